/** Shows the changes of a pull request: its commits, and its files with the comments on their lines. */

import { createElement } from 'react';
import { CopyText } from '../../pieces/copy.tsx';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import type { ChangedFile, Commit } from '../api/bodies.ts';
import { useCommits, useFiles, useReviewComments } from '../api/reading.ts';
import { Person } from '../parts/marks.tsx';
import { LineComments } from './line-comments.tsx';
import { PullFrame, type WholePull } from './pull-frame.tsx';

const CommitItem = ({ commit }: { commit: Commit }) => {
  const { sha, author } = commit;
  const [title = '', ...rest] = commit.commit.message.split('\n');
  const text = rest.join('\n').trim();
  return (
    <li className="item">
      <div className="item-main">
        <span className="item-title">{title}</span>
        {text === '' ? null : <pre className="commit-text">{text}</pre>}
        <p className="item-more">
          {author === null ? <span>{commit.commit.author.name}</span> : <Person user={author} />}
          <When at={commit.commit.author.date} />
        </p>
      </div>
      <CopyText text={sha} shown={sha.slice(0, 7)} />
    </li>
  );
};

const Commits = ({ target }: WholePull) => {
  const { data, error, refetch } = useCommits(target.place, target.number);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="commits" />;
  if (data.items.length === 0) return <Empty title="There are no commits." />;
  return (
    <ul className="items">
      {data.items.map((commit) => (
        <CommitItem key={commit.sha} commit={commit} />
      ))}
    </ul>
  );
};

const kindOf = (line: string): string => {
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : '';
};

const Patch = ({ patch }: { patch: string }) => {
  const lines = patch
    .split('\n')
    .map((line) => createElement('span', { className: kindOf(line) }, `${line}\n`));
  // Lines never change their order, so they need no keys. The element scrolls sideways, by keyboard too.
  return createElement('pre', { className: 'patch', tabIndex: 0 }, ...lines);
};

const FileItem = ({ file, whole }: { file: ChangedFile; whole: WholePull }) => {
  const { place, number } = whole.target;
  const { data: comments = [] } = useReviewComments(place, number);
  const { filename, previous_filename: before, status, additions, deletions, patch } = file;
  return (
    <section className="file" aria-label={filename}>
      <h2 className="file-head">
        <code>{before === undefined ? filename : `${before} → ${filename}`}</code>
        <span className="hint">{status}</span>
        <span className="file-size">
          <span className="added">+{additions}</span> <span className="removed">−{deletions}</span>
        </span>
      </h2>
      {patch === undefined ? (
        <p className="nothing file-none">The code host shows no lines of this change.</p>
      ) : (
        <Patch patch={patch} />
      )}
      <LineComments comments={comments.filter(({ path }) => path === filename)} place={place} />
    </section>
  );
};

const Files = (whole: WholePull) => {
  const { place, number } = whole.target;
  const { data, error, refetch } = useFiles(place, number);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="files" />;
  if (data.items.length === 0) return <Empty title="No file is changed." />;
  return (
    <div className="files">
      {data.items.map((file) => (
        <FileItem key={file.filename} file={file} whole={whole} />
      ))}
    </div>
  );
};

export const CommitsPage = () => <PullFrame show={(whole) => <Commits {...whole} />} />;
export const FilesPage = () => <PullFrame show={(whole) => <Files {...whole} />} />;
