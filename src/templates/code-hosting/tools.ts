/**
 * Tools in TypeScript. A tool is an exported function with the tool's name; it takes its input as one object. Every
 * call on the world is awaited.
 */
import { fail, get, query } from 'svc_env';

type Issue = { number: number; title: string; body?: string | null; state: string };
type Input = { owner: string; repo: string; number: number; limit?: number };
type Likeness = {
  number: number;
  title: string;
  state: string;
  score: number;
  shared_words: string[];
};

/** Number of times that each word occurs in a text. */
type Words = Map<string, number>;

/** A word of the title counts as much as two of the body. */
const titleWeight = 2;
const shortestWord = 3;
/** Words that occur in more than this share of all issues ("the", "with") are ignored. */
const commonShare = 0.2;
const minimumScore = 0.02;
const sharedWordsShown = 8;

/**
 * Returns the issues most similar to an issue, the most similar first. Rare words say more about what an issue is about
 * than words that occur in every issue, so they weigh more.
 */
export async function find_duplicates({ owner, repo, number, limit = 5 }: Input) {
  const issue = (await get('issues', { owner, repo, number })) as Issue | null;
  if (issue === null) return fail(`there is no issue ${owner}/${repo}#${number}`, 'not_found');
  const pulls = (await query('pulls', { where: { owner, repo } })) as { number: number }[];
  const isPull = new Set(pulls.map((pull) => pull.number));
  const rows = (await query('issues', { where: { owner, repo } })) as Issue[];
  const others = rows.filter((row) => !isPull.has(row.number));
  const words = new Map(others.map((other) => [other.number, wordsOf(other)]));
  const rarity = rarityOf([...words.values()]);
  const own = words.get(number) ?? new Map();
  return others
    .filter((other) => other.number !== number)
    .map((other) => compare(other, own, words.get(other.number) ?? new Map(), rarity))
    .filter(({ score }) => score >= minimumScore)
    .sort((one, other) => other.score - one.score || one.number - other.number)
    .slice(0, limit);
}

const wordsOf = ({ title, body }: Issue): Words => {
  const words: Words = new Map();
  const count = (text: string, weight: number) => {
    for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
      if (word.length >= shortestWord) words.set(stem(word), (words.get(stem(word)) ?? 0) + weight);
    }
  };
  count(title, titleWeight);
  count(body ?? '', 1);
  return words;
};

/** Removes the plural: "reminders" and "reminder" count as the same word. */
const stem = (word: string): string => (word.length > shortestWord ? word.replace(/s$/, '') : word);

/** Returns the weight of each word: the fewer texts contain the word, the more it weighs. */
const rarityOf = (texts: Words[]): Words => {
  const rarity: Words = new Map();
  for (const word of texts.flatMap((text) => [...text.keys()])) {
    rarity.set(word, (rarity.get(word) ?? 0) + 1);
  }
  for (const [word, count] of rarity) {
    rarity.set(word, count > texts.length * commonShare ? 0 : Math.log(texts.length / count));
  }
  return rarity;
};

/** Returns the words that two texts share, and their similarity: the cosine of the angle between the texts as vectors. */
const compare = (other: Issue, own: Words, theirs: Words, rarity: Words): Likeness => {
  const weigh = (words: Words, word: string) => (words.get(word) ?? 0) * (rarity.get(word) ?? 0);
  const length = (words: Words) =>
    Math.hypot(...[...words.keys()].map((word) => weigh(words, word)));
  const shared = [...own.keys()]
    .filter((word) => theirs.has(word))
    .map((word) => ({ word, weight: weigh(own, word) * weigh(theirs, word) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, two) => two.weight - one.weight);
  const product = shared.reduce((sum, { weight }) => sum + weight, 0);
  const score = product === 0 ? 0 : product / (length(own) * length(theirs));
  const { number, title, state } = other;
  const shared_words = shared.slice(0, sharedWordsShown).map(({ word }) => word);
  return { number, title, state, score: Math.min(1, Number(score.toFixed(3))), shared_words };
};
