/**
 * All parts of a control plane, which the program creates once. The topmost themes use this type. Each theme below them
 * declares a narrower type with only the parts that it may use.
 */
import type { ObservabilityParts } from './observability/parts.ts';

export type Parts = ObservabilityParts;
