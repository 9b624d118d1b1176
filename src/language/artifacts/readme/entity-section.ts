/** Section of the reference about one entity: its key, its references, and a table of its fields. */
import { fieldPolicy } from '../../capture/redact.ts';
import type { Contract, EntityContract, FieldPath, RedactPolicy } from '../../contract.ts';
import { areSameTexts } from '../../read/values.ts';
import { type DescribedField, describeFields, type FieldSource } from './fields.ts';
import { code, escapeText, paragraph, table } from './markdown.ts';
import { descriptionOf, typeWords } from './type-words.ts';

const show = (path: FieldPath): string => code(path.join('.'));

const list = (fields: readonly string[]): string => fields.map((field) => code(field)).join(', ');

/** Returns the mark of a field's redaction policy, as in `svc worlds describe`; '' if it is not redacted. */
const policyMark = (policy: RedactPolicy | null, path: FieldPath): string => {
  const found = policy === null ? undefined : fieldPolicy(policy, path);
  if (found === undefined) return '';
  return found.mode === 'round' ? `[round:${found.decimals}]` : `[${found.mode}]`;
};

/** Returns the labels of a field: key, reference or unique constraint. */
const fieldMarks = (entity: EntityContract, path: FieldPath): string[] => {
  const [name = '', ...inner] = path;
  const isUnique = entity.unique.some((paths) => paths.some((part) => areSameTexts(part, path)));
  if (inner.length > 0) return isUnique ? ['unique'] : [];
  const targets = entity.relationships
    .filter(({ fields }) => fields.includes(name))
    .map(({ target }) => `→ ${code(target)}`);
  return [
    ...(entity.primaryKey.includes(name) ? ['key'] : []),
    ...(isUnique ? ['unique'] : []),
    ...targets,
  ];
};

const yesNo = (is: boolean): string => (is ? 'yes' : 'no');

const fieldCells = (
  { path, schemas, isRequired }: DescribedField,
  entity: EntityContract,
  source: FieldSource,
  policy: RedactPolicy | null,
): string[] => {
  const mark = policyMark(policy, path);
  return [
    show(path),
    escapeText(typeWords(source, schemas)),
    yesNo(isRequired),
    yesNo(source.analysis.types(schemas).has('null')),
    [...fieldMarks(entity, path), ...(mark === '' ? [] : [`\`${mark}\``])].join(', '),
  ];
};

const keyLines = ({ primaryKey, unique, relationships }: EntityContract): string[] => [
  `- Key: ${list(primaryKey)}`,
  ...unique.map((paths) => `- Unique: ${paths.map(show).join(', ')}`),
  ...relationships.map(({ fields, target }) => `- Refers to ${code(target)} by ${list(fields)}`),
];

const head = ['Field', 'Type', 'Required', 'Nullable', 'Marks', 'Description'];

const mostInnerFields = 300;

/** Returns the section as blocks of Markdown. A brief section has neither descriptions nor inner fields. */
export const entitySection = (
  entity: EntityContract,
  source: FieldSource,
  { redact, isBrief }: Pick<Contract, 'redact'> & { isBrief: boolean },
): string[] => {
  const { fields, isComplete } = describeFields(source, entity, isBrief ? 0 : mostInnerFields);
  return [
    `### ${entity.name}`,
    paragraph(descriptionOf(source, [entity.schema])),
    keyLines(entity).join('\n'),
    table(
      head,
      fields.map((field) => [
        ...fieldCells(field, entity, source, redact),
        isBrief ? '' : escapeText(descriptionOf(source, field.schemas), 300),
      ]),
    ),
    isComplete ? '' : 'Further fields inside of these are not listed.',
  ];
};
