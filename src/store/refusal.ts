/**
 * Refusals of the store: a row that breaks the contract, a key that is taken or missing. A refusal is an expected
 * outcome that authors of user code and clients see, so it names the entity, the field and the way out. Callers
 * translate it: an API answers with the vendor's `invalid`, a call fails with its kind.
 */
export type RefusalKind =
  | 'shape'
  | 'duplicate'
  | 'missing_reference'
  | 'referenced'
  | 'not_found'
  | 'unknown_entity'
  | 'full';

/** One fault of a row; `detail` completes a sentence that begins with the field at `pointer`. */
export type RefusedPlace = { pointer: string; detail: string };

export type RefusalFacts = {
  entity: string;
  kind: RefusalKind;
  detail: string;
  /** Top-level field at fault. */
  field?: string | undefined;
  /** JSON pointer to the value at fault, into the row. */
  pointer?: string | undefined;
  /** Canonical key of the row at fault, see `keys.ts`. */
  key?: string | undefined;
  /** Position of the row in the list that the caller passed. */
  index?: number | undefined;
  /** All faults of the row, at most 20; absent: only the fault of `pointer` and `detail`. */
  problems?: readonly RefusedPlace[] | undefined;
};

export class StoreRefusal extends Error {
  readonly entity: string;
  readonly kind: RefusalKind;
  readonly detail: string;
  readonly field: string | undefined;
  readonly pointer: string | undefined;
  readonly key: string | undefined;
  readonly index: number | undefined;
  readonly problems: readonly RefusedPlace[];

  constructor(facts: RefusalFacts) {
    const place = facts.index === undefined ? facts.entity : `${facts.entity}[${facts.index}]`;
    super(`${place}${facts.pointer ?? ''}: ${facts.detail}`);
    this.name = 'StoreRefusal';
    this.entity = facts.entity;
    this.kind = facts.kind;
    this.detail = facts.detail;
    this.field = facts.field;
    this.pointer = facts.pointer;
    this.key = facts.key;
    this.index = facts.index;
    this.problems = facts.problems ?? [{ pointer: facts.pointer ?? '', detail: facts.detail }];
  }

  /** Returns the same refusal with the row's position in a list. */
  at(index: number): StoreRefusal {
    return new StoreRefusal({ ...this, index });
  }
}
