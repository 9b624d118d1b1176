/** Plays an agent in the page of `issue-tracking`: the task `close-the-duplicate`, from its first page on. */
import type { Page } from 'playwright-core';

/** Solves the task on a page that shows its `entry`. Resolves when the issue is shown as closed. */
export const solveCloseTheDuplicate = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Berth planner' }).click();
  await page.getByRole('link', { name: 'Issues' }).last().click();
  await page.getByRole('searchbox').fill('last ship has not left');
  await page.keyboard.press('Enter');
  await page
    .getByRole('link', { name: 'Berth is offered although the last ship has not left' })
    .click();
  await page.getByRole('button', { name: 'Link an issue' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('This issue').selectOption('duplicates');
  await dialog.getByLabel('Issue', { exact: true }).fill('BERTH-101');
  await dialog.getByRole('button', { name: 'Link' }).click();
  await page.getByRole('button', { name: 'Remove the link to BERTH-101' }).waitFor();
  await page.getByRole('button', { name: /^Status To Do/ }).click();
  await dialog.getByRole('radio', { name: "Won't do" }).check();
  await dialog.getByLabel('Resolution').selectOption('Duplicate');
  await dialog.getByRole('button', { name: 'Move' }).click();
  await page.getByText('as Duplicate').waitFor();
};
