/** Forms that create and change rows. The world's errors are shown at the field that they concern. */
import { Dialog } from '@base-ui/react/dialog';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { AskError, type FieldProblem } from '../host/ask.ts';
import { type ListQuery, readRows } from '../host/rows.ts';
import { createRow, updateRow, writableFields } from '../host/writes.ts';
import { useAnnounce } from '../pieces/announce.tsx';
import { readForm, readInput, writeInput } from '../world/inputs.ts';
import { keyOf, keyText, nameOf } from '../world/keys.ts';
import { fieldOf, type PageEntity, type PageField, type Row, targetOf } from '../world/model.ts';

type Texts = Readonly<Record<string, string>>;

/** Attributes of an input: its id, and the id of the element that describes it. */
type Description = {
  id: string;
  'aria-describedby': string;
  'aria-invalid': boolean;
  required: boolean;
};

type InputProps = {
  entity: PageEntity;
  field: PageField;
  value: string;
  description: Description;
  onChange: (text: string) => void;
};

const suggested = 20;

/** Returns the first matching rows of another entity. */
const useMatches = (target: PageEntity, match: Partial<ListQuery>, limit: number): Row[] => {
  const query = { where: {}, search: '', sort: '', ...match };
  const { data } = useQuery({
    queryKey: ['matches', target.name, query],
    queryFn: () => readRows(target, query, { limit }),
  });
  return data?.rows ?? [];
};

/** Suggests keys of rows that a field may refer to; the rows are found by the entered text. */
const Suggestions = ({ target, text, id }: { target: PageEntity; text: string; id: string }) => (
  <datalist id={id}>
    {useMatches(target, { search: text.slice(0, 100) }, suggested).map((row) => {
      const value = String(keyOf(target, row)[0]);
      return (
        <option key={value} value={value}>
          {nameOf(target, row)}
        </option>
      );
    })}
  </datalist>
);

/** Shows the name of the row that a field refers to. */
const Referred = ({ target, value }: { target: PageEntity; value: unknown }) => {
  const [row] = useMatches(target, { where: { [target.key[0] ?? '']: value } }, 1);
  return row === undefined ? null : <p className="hint">{nameOf(target, row)}</p>;
};

const Choices = ({ field }: { field: PageField }) => {
  const choices = field.kind === 'boolean' ? [true, false] : (field.choices ?? []);
  const textOf = (choice: unknown): string =>
    field.kind === 'boolean' ? String(choice) : JSON.stringify(choice);
  return (
    <>
      <option value="">{field.required && !field.nullable ? 'Choose…' : 'None'}</option>
      {choices.map((choice) => (
        <option key={textOf(choice)} value={textOf(choice)}>
          {typeof choice === 'boolean' ? (choice ? 'yes' : 'no') : String(choice)}
        </option>
      ))}
    </>
  );
};

const isLong = ({ name, kind }: PageField, value: string): boolean =>
  kind === 'json' ||
  value.length > 80 ||
  value.includes('\n') ||
  /(^|_)(body|description|content|text|notes?|message)$/.test(name);

const Input = ({ entity, field, value, description, onChange }: InputProps) => {
  const listId = useId();
  const target = field.kind === 'json' ? undefined : targetOf(entity, field.name);
  const entered = value === '' ? undefined : readInput(field, value);
  const key = entered !== undefined && 'value' in entered ? entered.value : undefined;
  // The kind of input is fixed at the beginning, however long the text becomes.
  const [isArea] = useState(() => isLong(field, value));
  const common = {
    ...description,
    value,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  if (field.kind === 'boolean' || field.kind === 'choice') {
    return (
      <select {...common}>
        <Choices field={field} />
      </select>
    );
  }
  if (isArea) {
    const isJson = field.kind === 'json';
    return <textarea {...common} rows={isJson ? 4 : 6} className={isJson ? 'mono' : ''} />;
  }
  const isNumber = field.kind === 'integer' || field.kind === 'number';
  return (
    <>
      <input
        {...common}
        {...(isNumber ? { inputMode: 'decimal' as const } : {})}
        {...(target === undefined ? {} : { list: listId })}
        autoComplete="off"
      />
      {target === undefined ? null : <Suggestions target={target} text={value} id={listId} />}
      {target === undefined || key === undefined ? null : <Referred target={target} value={key} />}
    </>
  );
};

type FieldProps = Omit<InputProps, 'description'> & { faults: readonly string[] };

const FormField = ({ faults, ...props }: FieldProps) => {
  const { field } = props;
  const id = useId();
  const required = field.required && !field.nullable;
  const description = {
    id,
    'aria-describedby': `${id}-description`,
    'aria-invalid': faults.length > 0,
    required,
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.label}
        {required ? <span className="needed"> required</span> : null}
      </label>
      <Input {...props} description={description} />
      <div id={`${id}-description`}>
        {field.description === undefined ? null : <p className="hint">{field.description}</p>}
        {faults.length === 0 ? null : <p className="fault">{faults.join('; ')}</p>}
      </div>
    </div>
  );
};

const textsOf = (fields: readonly PageField[], row: Row): Texts =>
  Object.fromEntries(fields.map((field) => [field.name, writeInput(field, row[field.name])]));

/** Groups problems by field. Problems of fields that the form does not contain are shown above it. */
const sortProblems = (problems: readonly FieldProblem[], fields: readonly PageField[]) => {
  const at = (name: string): string[] =>
    problems
      .filter(({ field }) => field === name)
      .map(({ pointer, message }) => {
        const inner = pointer.split('/').slice(2).join('.');
        return inner === '' ? message : `${inner} ${message}`;
      });
  const others = problems.filter(({ field }) => !fields.some(({ name }) => name === field));
  return { at, others };
};

type FormProps = {
  entity: PageEntity;
  title: string;
  action: string;
  fields: readonly PageField[];
  begin: Texts;
  /** True for a new row. For an existing row only changed fields are sent. */
  isNew: boolean;
  save: (fields: Row) => Promise<void>;
  onClose: () => void;
};

const FormError = ({
  error,
  others,
}: {
  error: Error;
  others: readonly FieldProblem[];
}): ReactNode => (
  <div role="alert" className="form-fault">
    <p>{error.message}</p>
    {error instanceof AskError && error.status === 404 ? <p>{error.hint}</p> : null}
    {others.map(({ field, message }) => (
      <p key={`${field}${message}`}>{field === '' ? message : `${field}: ${message}`}</p>
    ))}
  </div>
);

const Form = ({ entity, title, action, fields, begin, isNew, save, onClose }: FormProps) => {
  const [texts, setTexts] = useState(begin);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const form = useRef<HTMLFormElement>(null);
  const saving = useMutation<void, Error, Row>({ mutationFn: save });
  const problems = saving.error instanceof AskError ? saving.error.problems : [];
  const { at, others } = sortProblems(problems, fields);
  const faultsAt = (name: string): string[] => {
    const own = faults[name];
    return own === undefined ? at(name) : [own];
  };
  const isFaulty = Object.keys(faults).length > 0 || saving.isError;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that something is found to be wrong
  useEffect(() => {
    if (isFaulty) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [faults, saving.error]);
  const submit = (): void => {
    const entered = readForm(fields, texts, isNew ? undefined : begin);
    saving.reset();
    setFaults(entered.faults);
    if (Object.keys(entered.faults).length === 0) saving.mutate(entered.fields);
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="sheet">
          <form
            ref={form}
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              submit();
            }}
          >
            <Dialog.Title className="sheet-title">{title}</Dialog.Title>
            {saving.error === null ? null : <FormError error={saving.error} others={others} />}
            <div className="fields">
              {fields.map((field) => (
                <FormField
                  key={field.name}
                  entity={entity}
                  field={field}
                  value={texts[field.name] ?? ''}
                  faults={faultsAt(field.name)}
                  onChange={(text) => setTexts((before) => ({ ...before, [field.name]: text }))}
                />
              ))}
            </div>
            <div className="actions">
              <Dialog.Close>Cancel</Dialog.Close>
              <button type="submit" className="primary" disabled={saving.isPending}>
                {saving.isPending ? 'Saving…' : action}
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

const fieldsFor = (entity: PageEntity, verb: 'create' | 'update'): PageField[] =>
  writableFields(entity, verb).flatMap((name) => fieldOf(entity, name) ?? []);

const isScalar = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

type NewProps = { entity: PageEntity; given: Row; onClose: () => void };

/** Shows a form for a new row. Values from the list's filter are filled in. */
export const NewRow = ({ entity, given, onClose }: NewProps) => {
  const client = useQueryClient();
  const navigate = useNavigate();
  const announce = useAnnounce();
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => isScalar(value)));
  const fields = fieldsFor(entity, 'create');
  const save = async (entered: Row): Promise<void> => {
    const key = await createRow(entity, entered);
    await client.invalidateQueries();
    announce('Created.');
    if (key === undefined) return onClose();
    const params = { entity: entity.name, key: keyText(entity, key) };
    await navigate({ to: '/entities/$entity/rows/$key', params, replace: true });
  };
  return (
    <Form
      entity={entity}
      title={`New row in ${entity.label}`}
      action="Create"
      fields={fields}
      begin={textsOf(fields, known)}
      isNew
      save={save}
      onClose={onClose}
    />
  );
};

type EditProps = { entity: PageEntity; row: Row; onClose: () => void };

export const EditRow = ({ entity, row, onClose }: EditProps) => {
  const client = useQueryClient();
  const announce = useAnnounce();
  const fields = fieldsFor(entity, 'update');
  const save = async (entered: Row): Promise<void> => {
    if (Object.keys(entered).length > 0) {
      await updateRow({ entity, row, fields: entered });
      await client.invalidateQueries();
    }
    announce('Saved.');
    onClose();
  };
  return (
    <Form
      entity={entity}
      title={`Edit ${nameOf(entity, row)}`}
      action="Save"
      fields={fields}
      begin={textsOf(fields, row)}
      isNew={false}
      save={save}
      onClose={onClose}
    />
  );
};
