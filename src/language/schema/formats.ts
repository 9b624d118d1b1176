/**
 * The values of `format` that are held to: those of JSON Schema 2020-12 whose check takes linear time.
 * Any other format is a note to the reader, as the standard has it.
 */
import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

const names = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
] as const;

export const assertedFormats: Record<string, Format> = Object.fromEntries(
  names.map((name) => [name, fullFormats[name]]),
);
