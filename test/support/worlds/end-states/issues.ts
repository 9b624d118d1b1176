/** States of the tasks that close, decline and follow up issues. */
import { on, repository } from '../../templates/code-hosting.ts';
import { type EndStates, flood, nothingElse, send } from './state.ts';

const closing = { state: 'closed', state_reason: 'not_planned' };
const berth = '/repos/northquay/berth';
const tideFeed = { owner: 'northquay', repo: 'tide-feed' };
const at = '2025-11-17T09:00:00Z';

/** Builds a comment as the world stores it. */
const comment = (issue: number, user: string) => (index: number) => ({
  ...repository,
  id: 4_000_000_000 + index,
  issue_number: issue,
  user,
  author_association: 'MEMBER',
  body: `Again (${index})`,
  created_at: at,
  updated_at: at,
});

export const closeDuplicate: EndStates = {
  task: 'close-duplicate',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    { what: 'the same through the API', first: 'alternative', verdict: 'pass' },
    {
      what: 'the full reference, and thanks',
      next: async (world) => {
        await world.tool('add_labels', { ...on(157), labels: ['duplicate'] });
        const body = 'Thank you! We follow this in northquay/berth#139, not in #131.';
        await world.tool('create_comment', { ...on(157), body });
        await world.tool('update_issue', { ...on(157), ...closing });
      },
      verdict: 'pass',
    },
    {
      what: 'closed for the wrong reason first, then opened and closed again',
      next: async (world) => {
        await world.tool('update_issue', { ...on(157), state: 'closed' });
        await world.tool('update_issue', { ...on(157), state: 'open' });
        await world.tool('add_labels', { ...on(157), labels: ['duplicate'] });
        await world.tool('create_comment', { ...on(157), body: 'Duplicate of #139' });
        await world.tool('update_issue', { ...on(157), ...closing });
      },
      verdict: 'pass',
    },
    {
      what: 'a comment with a slip, mended afterwards',
      first: 'solution',
      next: async (world) => {
        const [made] = world.rows('comments', { issue_number: 157, user: 'quay-triage' });
        await send(world, 'PATCH', `${berth}/issues/comments/${made?.id}`, {
          body: 'A duplicate of #139, thank you',
        });
      },
      verdict: 'pass',
    },
    {
      what: 'half: labelled and closed, and no word why',
      next: async (world) => {
        await world.tool('update_issue', { ...on(157), ...closing, labels: ['duplicate'] });
      },
      verdict: 'fail',
      because: ['a comment on #157 names the original, #139'],
    },
    {
      what: 'the comment taken back again',
      first: 'solution',
      next: async (world) => {
        const [made] = world.rows('comments', { issue_number: 157, user: 'quay-triage' });
        await send(world, 'DELETE', `${berth}/issues/comments/${made?.id}`);
      },
      verdict: 'fail',
      because: ['a comment on #157 names the original, #139'],
    },
    {
      what: 'opened again at the end',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(157), state: 'open' }),
      verdict: 'fail',
      because: ['#157 is closed as not planned'],
    },
    {
      what: 'the label that it had taken away',
      first: 'solution',
      next: (world) => world.tool('remove_label', { ...on(157), name: 'area: emails' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'the same done to the issue beside it',
      next: async (world) => {
        await world.tool('add_labels', { ...on(158), labels: ['duplicate'] });
        await world.tool('create_comment', { ...on(158), body: 'Duplicate of #139' });
        await world.tool('update_issue', { ...on(158), ...closing });
      },
      verdict: 'fail',
      because: ['#157 is closed as not planned', 'no other open issue was closed', nothingElse],
    },
    {
      what: 'right, and a word on the issue beside it',
      first: 'solution',
      next: (world) => world.tool('create_comment', { ...on(158), body: 'Is this one too?' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and a closed issue labelled as well',
      first: 'solution',
      next: (world) => world.tool('add_labels', { ...on(40), labels: ['duplicate'] }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and what the reporter wrote changed',
      first: 'solution',
      next: (world) =>
        send(world, 'PATCH', `${berth}/issues/comments/3275316640`, { body: '(edited)' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and the title made nicer',
      first: 'solution',
      next: (world) =>
        world.tool('update_issue', { ...on(157), title: 'Reminders: an hour early' }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and the original labelled and unlabelled, which its history shows',
      first: 'solution',
      next: async (world) => {
        await world.tool('add_labels', { ...on(139), labels: ['p1'] });
        await world.tool('remove_label', { ...on(139), name: 'p1' });
      },
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and the label renamed for everybody',
      first: 'solution',
      next: (world) => send(world, 'PATCH', `${berth}/labels/duplicate`, { new_name: 'twice' }),
      verdict: 'fail',
    },
    {
      what: 'right, and 3,000 comments more on the same issue',
      first: 'solution',
      next: (world) => flood(world, 'comments', 3_000, comment(157, 'quay-triage')),
      verdict: 'fail',
      because: ['#157 is commented on, and not flooded', nothingElse],
    },
    {
      what: 'right, and 3,000 comments elsewhere',
      first: 'solution',
      next: (world) => flood(world, 'comments', 3_000, comment(47, 'quay-triage')),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'nothing, and an attempt to write into the request ledger',
      next: (world) =>
        flood(world, 'svc_requests', 1, () => ({ via: 'api', operation: 'update_issue' })).catch(
          () => {},
        ),
      verdict: 'fail',
      because: ['#157 is closed as not planned'],
    },
  ],
};

export const declineWithAReason: EndStates = {
  task: 'decline-with-a-reason',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    { what: 'the same through the API', first: 'alternative', verdict: 'pass' },
    {
      what: 'closed before the reason was given',
      next: async (world) => {
        await world.tool('update_issue', { ...on(157), ...closing });
        await world.tool('create_comment', { ...on(157), body: 'See #24.' });
        await world.tool('add_labels', { ...on(157), labels: ['wontfix'] });
      },
      verdict: 'fail',
      because: ['it was closed after it was explained'],
    },
    {
      what: 'closed too early, opened, explained, closed',
      next: async (world) => {
        await world.tool('update_issue', { ...on(157), ...closing, labels: ['wontfix'] });
        await world.tool('update_issue', {
          ...on(157),
          state: 'open',
          labels: ['enhancement', 'wontfix'],
        });
        await world.tool('create_comment', { ...on(157), body: 'See #24.' });
        await world.tool('update_issue', { ...on(157), ...closing });
      },
      verdict: 'pass',
    },
    {
      what: 'an answer that names no issue',
      next: async (world) => {
        await world.tool('create_comment', { ...on(157), body: 'We decided against it.' });
        const labels = ['enhancement', 'wontfix'];
        await world.tool('update_issue', { ...on(157), ...closing, labels });
      },
      verdict: 'fail',
      because: ['a comment on #157 names the older issue, #24'],
    },
    {
      what: 'right, and the conversation locked',
      first: 'solution',
      next: (world) => send(world, 'PUT', `${berth}/issues/157/lock`, { lock_reason: 'resolved' }),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};

export const followUpNeedsInfo: EndStates = {
  task: 'follow-up-needs-info',
  states: [
    { what: 'nothing', verdict: 'fail' },
    { what: 'what the instruction says', first: 'solution', verdict: 'pass' },
    { what: 'the same in another order', first: 'alternative', verdict: 'pass' },
    {
      what: 'the label put back',
      first: 'solution',
      next: (world) => world.tool('add_labels', { ...on(152), labels: ['needs-info'] }),
      verdict: 'fail',
      because: ['the answered issue, berth#152, needs no info any more'],
    },
    {
      what: 'right, and the one that waits asked again',
      first: 'solution',
      next: (world) =>
        world.tool('create_comment', { ...tideFeed, issue_number: 53, body: 'Still there?' }),
      verdict: 'fail',
      because: ['nothing was said on tide-feed#53', nothingElse],
    },
    {
      what: 'right, and the answered issue given to another person',
      first: 'solution',
      next: (world) => world.tool('update_issue', { ...on(152), assignees: ['priyaraman'] }),
      verdict: 'fail',
      because: [nothingElse],
    },
    {
      what: 'right, and thanks on the answered issue, where nothing else should change',
      first: 'solution',
      next: (world) => world.tool('create_comment', { ...on(152), body: 'Thank you!' }),
      verdict: 'fail',
      because: [nothingElse],
    },
  ],
};
