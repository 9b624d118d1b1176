/**
 * Moves an issue to another status by a transition, which the user chooses in a dialog. If the transition requires a
 * resolution, the dialog asks for it.
 */
import { useState } from 'react';
import { Loading } from '../../pieces/states.tsx';
import type { Status, Transition } from '../api/bodies.ts';
import { useTransitions } from '../api/reading.ts';
import { moveIssue, type Step, useAct } from '../api/writing.ts';
import { Dialog } from './dialog.tsx';
import { StatusMark } from './marks.tsx';
import { Refusal } from './refusal.tsx';

/** Returns a mutation that moves an issue to another status and announces that status. */
export const useMove = () =>
  useAct(
    ({ key, transition, fields }: Step & { to: Status }) =>
      moveIssue({ key, transition, ...(fields === undefined ? {} : { fields }) }),
    ({ key, to }) => `${key} is ${to.name}.`,
  );

const resolutionsOf = (step: Transition | undefined) =>
  step?.fields?.resolution?.allowedValues ?? [];

type MoveProps = {
  issueKey: string;
  /** Status to move the issue to; if undefined, the user may choose any. */
  to?: Status | undefined;
  onClose: () => void;
};

export const MoveDialog = ({ issueKey, to, onClose }: MoveProps) => {
  const { data, error } = useTransitions(issueKey);
  const move = useMove();
  const steps = data?.transitions.filter((step) => to === undefined || step.to.id === to.id) ?? [];
  const [chosen, setChosen] = useState<string>();
  const step = steps.find(({ id }) => id === chosen) ?? steps[0];
  const resolutions = resolutionsOf(step);
  const go = (form: HTMLFormElement): void => {
    if (step === undefined) {
      onClose();
      return;
    }
    const resolution = new FormData(form).get('resolution');
    const fields =
      resolution === null ? {} : { fields: { resolution: { id: String(resolution) } } };
    move.mutate(
      { key: issueKey, transition: step.id, to: step.to, ...fields },
      { onSuccess: onClose },
    );
  };
  return (
    <Dialog
      title={`Move ${issueKey}`}
      act="Move"
      isPending={move.isPending}
      onAct={go}
      onClose={onClose}
    >
      {data === undefined && error === null ? <Loading what="the steps" /> : null}
      {data !== undefined && steps.length === 0 ? (
        <p className="nothing">
          {to === undefined ? 'No step leads on from here.' : `No step leads to ${to.name}.`}
        </p>
      ) : null}
      <fieldset className="steps">
        <legend className="off-screen">Steps</legend>
        {steps.map((one) => (
          <label key={one.id} className="picker-option">
            <input
              type="radio"
              name="step"
              checked={one.id === step?.id}
              onChange={() => setChosen(one.id)}
            />
            {one.name}
            <StatusMark status={one.to} />
          </label>
        ))}
      </fieldset>
      {resolutions.length === 0 ? null : (
        <label className="line-field">
          Resolution
          <select name="resolution" key={step?.id}>
            {resolutions.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <Refusal error={move.error ?? error} />
    </Dialog>
  );
};
