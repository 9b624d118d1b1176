/** GET /doctor */
import { examine as operation } from '#wire/admin-api/operations.ts';
import { type DoctorParts, examine as runChecks } from '../../admin/doctor.ts';
import { endpoint, respond } from '../endpoint.ts';

export const examine = (parts: DoctorParts) =>
  endpoint(operation, async () => respond(200, { checks: await runChecks(parts) }));
