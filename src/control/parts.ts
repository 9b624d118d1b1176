/**
 * Parts that the program creates once, for the themes above all others. Each theme beneath has a narrower type of its
 * own.
 */
import type { ObservabilityParts } from './observability/parts.ts';

export type Parts = ObservabilityParts;
