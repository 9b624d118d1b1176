/** Versions of a project, planned and released; a planned version can be released here. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import type { Version } from '../api/bodies.ts';
import { useProject, useUnresolved, useVersions } from '../api/reading.ts';
import { createVersion, type Fields, updateVersion, useAct } from '../api/writing.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { useTitle } from '../parts/title.ts';
import { quote } from '../text/jql.ts';
import { useProjectKey } from './project.tsx';

const standingOf = ({ archived, released, overdue }: Version): string => {
  if (archived) return 'Archived';
  if (released) return 'Released';
  return overdue === true ? 'Overdue' : 'Planned';
};

type ReleaseProps = { version: Version; others: readonly Version[]; onClose: () => void };

const ReleaseDialog = ({ version, others, onClose }: ReleaseProps) => {
  const { data } = useUnresolved(version.id);
  const releasing = useAct(
    (fields: Fields) => updateVersion(version.id, fields),
    `${version.name} is released.`,
  );
  const open = data?.issuesUnresolvedCount ?? 0;
  return (
    <Dialog
      title={`Release ${version.name}`}
      act="Release"
      isPending={releasing.isPending || data === undefined}
      onClose={onClose}
      onAct={(form) => {
        const given = new FormData(form);
        const releaseDate = String(given.get('day') ?? '');
        const moveTo = String(given.get('move') ?? '');
        releasing.mutate(
          {
            released: true,
            ...(releaseDate === '' || releaseDate === version.releaseDate ? {} : { releaseDate }),
            ...(moveTo === '' ? {} : { moveUnfixedIssuesTo: moveTo }),
          },
          { onSuccess: onClose },
        );
      }}
    >
      <p>
        {open === 0
          ? 'All of its issues are resolved.'
          : `${open} of its ${data?.issuesCount} issues have no resolution.`}
      </p>
      {open === 0 ? null : (
        <label className="line-field">
          Open issues
          <select name="move">
            <option value="">stay in {version.name}</option>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                move to {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label className="line-field">
        Release date
        <input type="date" name="day" defaultValue={version.releaseDate} />
      </label>
      <Refusal error={releasing.error} />
    </Dialog>
  );
};

const NewDialog = ({ projectId, onClose }: { projectId: number; onClose: () => void }) => {
  const creating = useAct(createVersion, 'The version is made.');
  return (
    <Dialog
      title="New version"
      act="Create"
      isPending={creating.isPending}
      onClose={onClose}
      onAct={(form) => {
        const given = [...new FormData(form)].filter(([, value]) => value !== '');
        creating.mutate({ ...Object.fromEntries(given), projectId }, { onSuccess: onClose });
      }}
    >
      <label className="line-field">
        Name
        <input name="name" required maxLength={255} />
      </label>
      <label className="line-field">
        Description
        <input name="description" maxLength={1_000} />
      </label>
      <label className="line-field">
        Release date
        <input type="date" name="releaseDate" />
      </label>
      <Refusal error={creating.error} />
    </Dialog>
  );
};

type RowProps = { project: string; version: Version; onRelease: () => void };

const Row = ({ project, version, onRelease }: RowProps) => {
  const { name, description, startDate, releaseDate, released, archived } = version;
  const reopening = useAct(
    () => updateVersion(version.id, { released: false }),
    `${name} is planned again.`,
  );
  const jql = `project = ${quote(project)} AND fixVersion = ${quote(name)} ORDER BY created DESC`;
  return (
    <li className="item">
      <div className="item-main">
        <Link
          to="/projects/$project/issues"
          params={{ project }}
          search={{ jql }}
          className="item-title"
          data-row=""
        >
          {name}
        </Link>{' '}
        <span className="choice">{standingOf(version)}</span>
        <p className="item-more">
          <span>{description}</span>
          {startDate === undefined ? null : <span>from {startDate}</span>}
          {releaseDate === undefined ? null : <span>until {releaseDate}</span>}
        </p>
        <Refusal error={reopening.error} />
      </div>
      {archived ? null : released ? (
        <button
          type="button"
          aria-label={`Unrelease ${name}`}
          disabled={reopening.isPending}
          onClick={() => reopening.mutate(undefined)}
        >
          Unrelease
        </button>
      ) : (
        <button type="button" aria-label={`Release ${name}`} onClick={onRelease}>
          Release
        </button>
      )}
    </li>
  );
};

export const VersionsPage = () => {
  const key = useProjectKey();
  const { data: project } = useProject(key);
  const { data, error, refetch } = useVersions(key);
  const [isOpen, setOpen] = useState<Version | 'new'>();
  const close = () => setOpen(undefined);
  useTitle('Versions', key);
  useListKeys();
  return (
    <section className="page wide" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Versions</h1>
        <span className="total" role="status">
          {data?.length.toLocaleString('en') ?? ''}
        </span>
        <button
          type="button"
          className="to-words"
          disabled={project === undefined}
          onClick={() => setOpen('new')}
        >
          New version
        </button>
      </div>
      {error !== null ? <Failure error={error} retry={() => void refetch()} /> : null}
      {data === undefined && error === null ? <Loading what="versions" /> : null}
      {data?.length === 0 ? <Empty title="There are no versions." /> : null}
      {data === undefined || data.length === 0 ? null : (
        <ul className="items">
          {data.toReversed().map((version) => (
            <Row
              key={version.id}
              project={key}
              version={version}
              onRelease={() => setOpen(version)}
            />
          ))}
        </ul>
      )}
      {isOpen === 'new' && project !== undefined ? (
        <NewDialog projectId={Number(project.id)} onClose={close} />
      ) : null}
      {isOpen === undefined || isOpen === 'new' ? null : (
        <ReleaseDialog
          version={isOpen}
          others={(data ?? []).filter(
            ({ id, released, archived }) => id !== isOpen.id && !released && !archived,
          )}
          onClose={close}
        />
      )}
    </section>
  );
};
