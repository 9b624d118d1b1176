/** The same solution in another way: first the list of pull requests, then each pull request by its number. */
import { world } from 'svc_env/testing';

type Pull = { number: number; created_at: string; merged_at: string | null };

const pulls = '/repos/northquay/berth/pulls';

export const solve = async (): Promise<void> => {
  const params = { state: 'all', per_page: 100 };
  const listed = (await world.api.get(pulls, { params })).json() as Pull[];
  const hours: number[] = [];
  for (const { number } of listed) {
    const pull = (await world.api.get(`${pulls}/${number}`)).json() as Pull;
    if (pull.merged_at === null) continue;
    hours.push((Date.parse(pull.merged_at) - Date.parse(pull.created_at)) / 3_600_000);
  }
  const mean = hours.reduce((sum, one) => sum + one, 0) / hours.length;
  await world.answer(Number(mean.toFixed(1)));
};
