/** States of the tasks about people, labels and incidents, and of those that ask a question. */
import { on, pull } from '../../templates/code-hosting.ts';
import { answer, type EndStates, nothingElse, send } from './state.ts';

const handbook = '/repos/northquay/handbook';
const tideFeed = '/repos/northquay/tide-feed';
const issueOf = (repo: string, issue_number: number) => ({
  owner: 'northquay',
  repo,
  issue_number,
});

export const labelWhatHasNone: EndStates = {
  task: 'label-what-has-none',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    {
      what: 'another colour for the label, and words about it',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${handbook}/labels/in%20progress`, {
          color: 'ffffff',
          description: 'A person works on it',
        }),
      verdict: 'pass',
    },
    {
      what: 'all of them in progress',
      first: 'solution',
      next: (world) =>
        world.tool('update_issue', { ...issueOf('handbook', 12), labels: ['in progress'] }),
      verdict: 'fail',
      because: ['each issue without an assignee is a question'],
    },
    {
      what: 'right, and one of them with both labels',
      first: 'solution',
      next: (world) =>
        world.tool('add_labels', { ...issueOf('handbook', 12), labels: ['onboarding'] }),
      verdict: 'fail',
      because: ['each of them has the one label', nothingElse],
    },
    {
      what: 'right, and the closed one labelled as well',
      first: 'solution',
      next: (world) =>
        world.tool('add_labels', { ...issueOf('handbook', 23), labels: ['in progress'] }),
      verdict: 'fail',
      because: ['nothing else is in progress', nothingElse],
    },
    {
      what: 'right, and one label too many',
      first: 'solution',
      next: (world) => send(world, 'POST', `${handbook}/labels`, { name: 'done', color: 'ffffff' }),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};

export const handOverWork: EndStates = {
  task: 'hand-over-work',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    {
      what: 'the issues handed over, the review forgotten',
      next: async (world) => {
        for (const number of [25, 37, 48]) {
          const to = { assignees: ['sam-okafor'] };
          await world.tool('update_issue', { ...issueOf('tide-feed', number), ...to });
        }
        const others = { assignees: ['inesmarchetti'] };
        await world.tool('update_issue', { ...issueOf('tide-feed', 55), ...others });
      },
      verdict: 'fail',
      because: ['#54 does not wait for his review'],
    },
    {
      what: 'what he shares handed over as well',
      first: 'solution',
      next: (world) =>
        world.tool('update_issue', {
          ...issueOf('tide-feed', 55),
          assignees: ['inesmarchetti', 'sam-okafor'],
        }),
      verdict: 'fail',
      because: ['#55 is assigned to no other person', 'sam-okafor has no more than that'],
    },
    {
      what: 'right, and what is closed rewritten',
      first: 'solution',
      next: (world) =>
        world.tool('update_issue', { ...issueOf('tide-feed', 11), assignees: ['sam-okafor'] }),
      verdict: 'fail',
      because: ['what is closed is still his', nothingElse],
    },
    {
      what: 'right, and an issue of another repository handed over too',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(47), assignees: ['sam-okafor'] }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and an issue opened about it',
      first: 'solution',
      next: (world) =>
        world.tool('create_issue', { owner: 'northquay', repo: 'tide-feed', title: 'Handed over' }),
      verdict: 'fail',
    },
    {
      what: 'right, and no requested reviewer left',
      first: 'solution',
      next: (world) =>
        send(world, 'DELETE', `${tideFeed}/pulls/54/requested_reviewers`, {
          reviewers: ['inesmarchetti'],
        }),
      verdict: 'fail',
      because: ['#54 waits for that of the others'],
    },
  ],
};

const incident = {
  owner: 'northquay',
  repo: 'handbook',
  title: 'Incident: reminders',
  body: 'See https://code.example/northquay/berth/issues/139.',
  labels: ['runbook'],
  assignees: ['jonas-eide'],
};

export const openAnIncident: EndStates = {
  task: 'open-an-incident',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    {
      what: 'the addresses instead of the references, and an answer corrected',
      next: async (world) => {
        await world.tool('create_issue', incident);
        const body = 'See https://code.example/northquay/handbook/issues/23, please.';
        await world.tool('create_comment', { ...on(139), body });
        await answer(world, 22);
        await answer(world, 23);
      },
      verdict: 'pass',
    },
    {
      what: 'all of it, and no answer',
      next: async (world) => {
        await world.tool('create_issue', incident);
        await world.tool('create_comment', { ...on(139), body: 'northquay/handbook#23' });
      },
      verdict: 'fail',
      because: ['the answer is its number'],
    },
    {
      what: 'a guessed answer',
      first: 'solution',
      next: (world) => answer(world, 139),
      verdict: 'fail',
      because: ['the answer is its number'],
    },
    {
      what: 'an incident that names #139 of its own repository',
      next: async (world) => {
        await world.tool('create_issue', { ...incident, body: 'See #139.' });
        await world.tool('create_comment', { ...on(139), body: 'northquay/handbook#23' });
        await answer(world, 23);
      },
      verdict: 'fail',
      because: ['there is one incident, and it names berth#139'],
    },
    {
      what: 'right, and a second incident',
      first: 'solution',
      next: (world) => world.tool('create_issue', incident),
      verdict: 'fail',
      because: ['there is one incident, and it names berth#139'],
    },
    {
      what: 'opened in the repository of the fault',
      next: async (world) => {
        await world.tool('create_issue', { ...incident, repo: 'berth', labels: ['bug'] });
        await world.tool('create_comment', { ...on(139), body: '#157' });
        await answer(world, 157);
      },
      verdict: 'fail',
      because: ['there is one incident, and it names berth#139', nothingElse],
    },
    {
      what: 'right, and the fault closed, since it is an incident now',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(139), state: 'closed' }),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};

export const whoIsWaitedFor: EndStates = {
  task: 'who-is-waited-for',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'the four', first: 'solution', verdict: 'pass' },
    {
      what: 'the four in another order',
      next: (world) => answer(world, ['sam-okafor', 'tobias-wendt', 'jonas-eide', 'inesmarchetti']),
      verdict: 'pass',
    },
    {
      what: 'the team forgotten',
      next: (world) => answer(world, ['inesmarchetti', 'jonas-eide', 'tobias-wendt']),
      verdict: 'fail',
    },
    {
      what: 'the draft counted',
      next: (world) =>
        answer(world, ['inesmarchetti', 'jonas-eide', 'priyaraman', 'sam-okafor', 'tobias-wendt']),
      verdict: 'fail',
    },
    {
      what: 'right, and everybody reminded, though it said to look only',
      first: 'solution',
      next: (world) => world.tool('create_comment', { ...on(150), body: '@sam-okafor, please.' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and a request taken back',
      first: 'solution',
      next: (world) =>
        send(world, 'DELETE', `${tideFeed}/pulls/54/requested_reviewers`, {
          reviewers: ['inesmarchetti'],
        }),
      verdict: 'fail',
      because: ['no request deleted anything', nothingElse],
    },
  ],
};

export const howLongMergesTake: EndStates = {
  task: 'how-long-merges-take',
  states: [
    { what: 'nothing', verdict: 'fail' },
    {
      what: 'the mean, to one decimal',
      next: (world) => answer(world, 17.8),
      verdict: 'pass',
    },
    {
      what: 'the mean, not rounded enough',
      next: (world) => answer(world, 17.79),
      verdict: 'pass',
    },
    { what: 'the mean in days', next: (world) => answer(world, 0.7), verdict: 'fail' },
    {
      what: 'what was closed without being merged counted as well',
      next: (world) => answer(world, 25.1),
      verdict: 'fail',
    },
    { what: 'words instead of a number', next: (world) => answer(world, 'long'), verdict: 'fail' },
    {
      what: 'right, and one of the open ones merged meanwhile',
      async next(world) {
        await answer(world, 17.8);
        await world.tool('merge_pull', pull(150));
      },
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};
