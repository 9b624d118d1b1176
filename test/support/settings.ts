/** Settings of a test's one project, changed as whoever manages it does: by the key of the organization. */
import { getProjectSettings, listProjects, updateSettings } from '#wire/public-api/operations.ts';
import type { ProjectSettingsChange } from '#wire/public-api/projects/settings.ts';
import type { TestControl } from './control.ts';

/** The id of the project whose key pair the test has. */
export const projectIdOf = async (control: TestControl): Promise<string> => {
  const { body } = await control.send(listProjects, {});
  return body.data[0]?.id ?? '';
};

/** Changes settings, and answers them. */
export const setSettings = async (control: TestControl, body: ProjectSettingsChange) => {
  const params = { projectId: await projectIdOf(control) };
  return (await control.account(updateSettings, { params, body })).body;
};

/** Turns push on or off, and answers what the project then has of it. */
export const setPush = async (control: TestControl, isOn: boolean) => {
  const { webhookPush, webhookPushSince } = await setSettings(control, { webhookPush: isOn });
  return { webhookPush, webhookPushSince };
};

/** What the project's own key pair is told of push. */
export const readPush = async (control: TestControl) => {
  const { webhookPush, webhookPushSince } = (await control.send(getProjectSettings, {})).body;
  return { webhookPush, webhookPushSince };
};
