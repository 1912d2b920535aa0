/**
 * Recognises known licenses. Names, years, line breaks and punctuation differ from copy to copy, and some copies leave
 * out the advice after the terms. So only the words of the terms are compared, and nearly all must match.
 */
import { listLicenses, type License } from './queries.ts'

/** The required share of common words. One added clause changes the shortest license by more than the remaining 2 %. */
const ALIKE = 0.98

type Words = ReadonlyMap<string, number>

export async function recogniseLicense(text: string): Promise<License | null> {
  const words = wordsOf(text)
  let best: { license: License | null; likeness: number } = { license: null, likeness: ALIKE }
  for (const license of await listLicenses()) {
    const likeness = likenessOf(words, knownWords(license))
    if (likeness >= best.likeness) best = { license, likeness }
  }
  return best.license
}

const known = new WeakMap<License, Words>()

function knownWords(license: License): Words {
  const words = known.get(license) ?? wordsOf(license.content)
  known.set(license, words)
  return words
}

// Applied to single lines: on a hostile whole text it could take very long.
const COPYRIGHT = /^\W*(copyright|\(c\)|©)|\ball rights reserved\b/i
const END = 'end of terms and conditions'

function wordsOf(text: string): Words {
  const lines = text.split(/[\r\n]/).filter((line) => !COPYRIGHT.test(line))
  const all = lines.join('\n').toLowerCase()
  const end = all.indexOf(END)
  const terms = end < 0 ? all : all.slice(0, end + END.length)
  const words = new Map<string, number>()
  for (const [word] of terms.matchAll(/[\p{L}\p{N}]+/gu)) words.set(word, (words.get(word) ?? 0) + 1)
  return words
}

function likenessOf(a: Words, b: Words): number {
  let shared = 0
  for (const [word, count] of a) shared += Math.min(count, b.get(word) ?? 0)
  return (2 * shared) / (total(a) + total(b))
}

const total = (words: Words) => [...words.values()].reduce((sum, count) => sum + count, 0)
