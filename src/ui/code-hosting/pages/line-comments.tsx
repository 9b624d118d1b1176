/** Comments on lines of files. */
import type { ReviewComment } from '../api/bodies.ts';
import type { Place } from '../api/vendor.ts';
import { Markdown } from '../parts/markdown.tsx';
import { Person } from '../parts/marks.tsx';

type LineProps = { comments: readonly ReviewComment[]; place: Place };

export const LineComments = ({ comments, place }: LineProps) =>
  comments.map(({ id, path, line, user, body }) => (
    <div key={id} className="line-comment">
      <p className="line-place">
        <code>
          {path}
          {line ? `:${line}` : ''}
        </code>
        <Person user={user} />
      </p>
      <Markdown text={body} place={place} />
    </div>
  ));
