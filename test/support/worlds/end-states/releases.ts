/** States of the tasks about milestones, releases, pull requests and branches. */
import { on, pull, repository } from '../../templates/code-hosting.ts';
import { type EndStates, flood, nothingElse, send } from './state.ts';

const berth = '/repos/northquay/berth';
const tideFeed = '/repos/northquay/tide-feed';
const issueOf = (repo: string, issue_number: number) => ({
  owner: 'northquay',
  repo,
  issue_number,
});
const squash = { ...pull(150), merge_method: 'squash' };
const occupancy = { ...repository, branch: 'occupancy-nights' };

export const mergeWhatIsReady: EndStates = {
  task: 'merge-what-is-ready',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    { what: 'the same through the API', first: 'alternative', verdict: 'pass' },
    {
      what: 'right, and said so in the pull request',
      first: 'solution',
      next: (world) => world.tool('create_comment', { ...on(150), body: 'In 2.8, with #141.' }),
      verdict: 'pass',
    },
    {
      what: 'the setting that deletes branches put on for it, and off again',
      next: async (world) => {
        await send(world, 'PATCH', berth, { delete_branch_on_merge: true });
        await world.tool('merge_pull', squash);
        await send(world, 'PATCH', berth, { delete_branch_on_merge: false });
      },
      verdict: 'pass',
    },
    {
      what: 'the setting that deletes branches put on for it, and left on',
      next: async (world) => {
        await send(world, 'PATCH', berth, { delete_branch_on_merge: true });
        await world.tool('merge_pull', squash);
      },
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'half: merged, and the branch forgotten',
      next: (world) => world.tool('merge_pull', squash),
      verdict: 'fail',
      because: ['the branch of #150 is gone'],
    },
    {
      what: 'merged with a merge commit',
      next: async (world) => {
        await world.tool('merge_pull', pull(150));
        await world.tool('delete_branch', occupancy);
      },
      verdict: 'fail',
      because: ['#150 is merged as one commit'],
    },
    {
      what: 'the branch deleted and made again',
      first: 'solution',
      next: (world) =>
        send(world, 'POST', `${berth}/git/refs`, {
          ref: 'refs/heads/occupancy-nights',
          sha: '384bf808e233fb1c1df756dbd7cce68624b1cc06',
        }),
      verdict: 'fail',
      because: ['the branch of #150 is gone'],
    },
    {
      what: 'right, and the one of the next release as well',
      first: 'solution',
      next: (world) => world.tool('merge_pull', { ...pull(157), merge_method: 'squash' }),
      verdict: 'fail',
      because: ['no other pull request was merged', nothingElse],
    },
    {
      what: 'right, and another one approved',
      first: 'solution',
      next: (world) => world.tool('create_review', { ...pull(155), event: 'APPROVE' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and a file of main changed afterwards',
      first: 'solution',
      next: (world) =>
        send(world, 'PUT', `${berth}/contents/NOTES.md`, {
          message: 'Add notes',
          content: Buffer.from('2.8').toString('base64'),
        }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and the milestone closed',
      first: 'solution',
      next: (world) => send(world, 'PATCH', `${berth}/milestones/3`, { state: 'closed' }),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};

export const moveToNextRelease: EndStates = {
  task: 'move-to-next-release',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    {
      what: 'one moved too many, and moved back',
      first: 'solution',
      next: async (world) => {
        await world.tool('update_issue', { ...on(84), milestone: 5 });
        await world.tool('update_issue', { ...on(84), milestone: 4 });
      },
      verdict: 'pass',
    },
    {
      what: 'due a day late',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${berth}/milestones/5`, { due_on: '2026-03-28T08:00:00Z' }),
      verdict: 'fail',
      because: ['2.10 is due on 27 March 2026'],
    },
    {
      what: 'right, and 2.9 closed',
      first: 'solution',
      next: (world) => send(world, 'PATCH', `${berth}/milestones/4`, { state: 'closed' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and something without a milestone put into 2.9',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(77), milestone: 4 }),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};

export const slipOneRelease: EndStates = {
  task: 'slip-one-release',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    {
      what: 'due in the evening, in the zone of the harbours',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${berth}/milestones/3`, { due_on: '2025-12-05T23:59:59+01:00' }),
      verdict: 'pass',
    },
    {
      what: 'one of the two forgotten',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(149), milestone: 3 }),
      verdict: 'fail',
      because: ['#139 and #149 slipped by one release'],
    },
    {
      what: 'due a day late',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${berth}/milestones/3`, { due_on: '2025-12-06T08:00:00Z' }),
      verdict: 'fail',
      because: ['2.8 is due on 5 December 2025'],
    },
    {
      what: 'right, and what is closed slipped as well',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(157), milestone: 4 }),
      verdict: 'fail',
      because: ['the rest of 2.8 is where it was', nothingElse],
    },
    {
      what: 'right, and one that was in no milestone put into 2.9',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(158), milestone: 4 }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and one of the two closed',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(139), state: 'closed' }),
      verdict: 'fail',
      because: ['#139 and #149 slipped by one release'],
    },
  ],
};

export const planTheNextVersion: EndStates = {
  task: 'plan-the-next-version',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    {
      what: 'another day of January, and a description',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${tideFeed}/milestones/3`, {
          due_on: '2026-01-05',
          description: 'More sources.',
        }),
      verdict: 'pass',
    },
    {
      what: 'due in February',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${tideFeed}/milestones/3`, { due_on: '2026-02-02T08:00:00Z' }),
      verdict: 'fail',
      because: ['there is a milestone 1.5, due in January 2026'],
    },
    {
      what: 'right, and what waits for an answer put into it',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...issueOf('tide-feed', 53), milestone: 3 }),
      verdict: 'fail',
      because: ['nothing else is in it', '#53 waits in no milestone', nothingElse],
    },
    {
      what: 'the issues put into 1.4, and 1.5 left empty',
      first: 'solution',
      next: async (world) => {
        for (const number of [35, 44]) {
          await world.tool('update_issue', { ...issueOf('tide-feed', number), milestone: 2 });
        }
      },
      verdict: 'fail',
      because: ['#35 and #44 are in it'],
    },
    {
      what: 'the milestone made in another repository',
      next: (world) =>
        world.tool('create_milestone', { ...repository, title: '1.5', due_on: '2026-01-30' }),
      verdict: 'fail',
      because: ['there is a milestone 1.5, due in January 2026', nothingElse],
    },
  ],
};

const draft = `${tideFeed}/releases/262541077`;
const notes = { tag_name: 'v1.3.1', previous_tag_name: 'v1.3.0' };
const madeUp =
  '* Keep the raw answer (#51)\nhttps://code.example/northquay/tide-feed/compare/v1.3.0...v1.3.1';

export const publishWithNotes: EndStates = {
  task: 'publish-with-notes',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    { what: 'the text first, then the publishing', first: 'alternative', verdict: 'pass' },
    {
      what: 'notes made up, and the code host never asked',
      next: (world) => send(world, 'PATCH', draft, { draft: false, body: madeUp }),
      verdict: 'fail',
      because: ['the code host generated the notes'],
    },
    {
      what: 'published with notes made up, and asked afterwards',
      next: async (world) => {
        await send(world, 'PATCH', draft, { draft: false, body: madeUp });
        await send(world, 'POST', `${tideFeed}/releases/generate-notes`, notes);
      },
      verdict: 'fail',
      because: ['the code host generated the notes'],
    },
    {
      what: 'asked, and published without the notes',
      next: async (world) => {
        await send(world, 'POST', `${tideFeed}/releases/generate-notes`, notes);
        await send(world, 'PATCH', draft, { draft: false, body: 'Small things.' });
      },
      verdict: 'fail',
      because: ['its text has the notes'],
    },
    {
      what: 'published and made a draft again',
      first: 'solution',
      next: (world) => send(world, 'PATCH', draft, { draft: true }),
      verdict: 'fail',
      because: ['v1.3.1 is published'],
    },
    {
      what: 'right, and the release renamed',
      first: 'solution',
      next: (world) => send(world, 'PATCH', draft, { name: 'Version 1.3.1' }),
      verdict: 'fail',
      because: ['v1.3.1 is published'],
    },
    {
      what: 'right, and the draft of the other repository published too',
      first: 'solution',
      next: (world) => send(world, 'PATCH', `${berth}/releases/262540318`, { draft: false }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and the release before it deleted',
      first: 'solution',
      next: (world) => send(world, 'DELETE', `${tideFeed}/releases/252918467`),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};

const branch = (name: string) => ({ ...repository, branch: name });

export const deleteMergedBranches: EndStates = {
  task: 'delete-merged-branches',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    { what: 'the same through the API', first: 'alternative', verdict: 'pass' },
    {
      what: 'one forgotten',
      next: async (world) => {
        await world.tool('delete_branch', branch('contrast-reserved'));
        await world.tool('delete_branch', branch('search-accents'));
      },
      verdict: 'fail',
      because: ['what was merged is gone'],
    },
    {
      what: 'right, and the one with newer work deleted too',
      first: 'solution',
      next: (world) => world.tool('delete_branch', branch('log-ids')),
      verdict: 'fail',
      because: ['the newer work on log-ids is there', nothingElse],
    },
    {
      what: 'right, and the branch of a closed pull request deleted too',
      first: 'solution',
      next: (world) => world.tool('delete_branch', branch('fax-gateway')),
      verdict: 'fail',
      because: ['all other branches are where they were', nothingElse],
    },
    {
      what: 'right, and the branch of an open pull request deleted, which closes it',
      first: 'solution',
      next: (world) => world.tool('delete_branch', branch('danish-plads')),
      verdict: 'fail',
      because: ['no open pull request was closed by it', nothingElse],
    },
    {
      what: 'right, and another branch put where log-ids is',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${berth}/git/refs/heads/map-on-canvas`, {
          sha: '5b1f0f6c0b7c4de2a4d8d2ba4cf0a2b4b8f5d6e7',
          force: true,
        }),
      verdict: 'fail',
      because: ['all other branches are where they were'],
    },
    {
      what: 'right, and one branch too many',
      first: 'solution',
      next: (world) =>
        send(world, 'POST', `${berth}/git/refs`, {
          ref: 'refs/heads/try',
          sha: 'e313771f3bb7daba87b48fa87ffab22b526679ff',
        }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and 2,000 branches more',
      first: 'solution',
      next: (world) =>
        flood(world, 'branches', 2_000, (index) => ({
          ...repository,
          name: `try-${index}`,
          sha: 'e313771f3bb7daba87b48fa87ffab22b526679ff',
          protected: false,
        })),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};
