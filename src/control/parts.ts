/** The parts that the program makes once, for the themes that stand on all others: each theme beneath has a type of its own. */
import type { ObservabilityParts } from './observability/parts.ts';

export type Parts = ObservabilityParts;
