/** Small elements used in many places: labels, people, and the state of an issue. */
import type { Issue, Label, User } from '../api/bodies.ts';

/** Returns a CSS colour; undefined if the text is not one, since a row may contain anything. */
const colourOf = (text: string): string | undefined =>
  /^[\da-f]{6}$/i.test(text) ? `#${text}` : undefined;

export const LabelMark = ({ name, color }: Pick<Label, 'name' | 'color'>) => (
  <span className="label">
    <span
      className="label-dot"
      aria-hidden="true"
      style={{ backgroundColor: colourOf(color) ?? 'transparent' }}
    />
    {name}
  </span>
);

export const loginOf = (user: User | null | undefined): string => user?.login ?? 'ghost';

export const Person = ({ user }: { user: User | null | undefined }) => (
  <span className="person">
    <span className="initial" aria-hidden="true">
      {[...loginOf(user)][0]?.toUpperCase()}
    </span>
    {loginOf(user)}
  </span>
);

export type Standing = 'open' | 'closed' | 'not-planned' | 'draft' | 'merged';

const words: Record<Standing, string> = {
  open: 'Open',
  closed: 'Closed',
  'not-planned': 'Closed',
  draft: 'Draft',
  merged: 'Merged',
};

export const standingOf = ({ state, state_reason, draft, pull_request }: Issue): Standing => {
  if (pull_request !== undefined && pull_request.merged_at !== null) return 'merged';
  if (state === 'open') return draft === true ? 'draft' : 'open';
  if (pull_request !== undefined) return 'not-planned';
  return ['not_planned', 'duplicate'].includes(state_reason ?? '') ? 'not-planned' : 'closed';
};

/** Shows the state as a dot, for lists. */
export const StandingDot = ({ standing }: { standing: Standing }) => (
  <span className={`dot ${standing}`}>
    <span className="off-screen">{words[standing]}</span>
  </span>
);

/** Shows the state as a dot with its word, for the header of a page. */
export const StandingMark = ({ standing }: { standing: Standing }) => (
  <span className={`standing ${standing}`}>
    <span className={`dot ${standing}`} aria-hidden="true" />
    {words[standing]}
  </span>
);
