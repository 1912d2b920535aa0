/** The creation dates of ref targets: the commit date of a commit, and the tag date of an annotated tag. */
import { parseCommit } from '../objects/commits.ts'
import { LAST_SECOND, type Person } from '../objects/identities.ts'
import { Memory } from '../objects/memory.ts'
import { readObjects, type GitObject } from '../objects/objects.ts'
import { parseTag } from '../objects/tags.ts'

const MAX_READ = { maxBytes: 64 * 1024, maxTotal: 16 * 1024 * 1024 }

const dates = new Memory<number>('dates of refs')

/**
 * In seconds, in the order of the ids. Null if git must decide: without a date, or with one that git may read
 * differently.
 */
export async function creationDates(dir: string, ids: readonly string[]): Promise<(number | null)[]> {
  const unknown = [...new Set(ids)].filter((id) => dates.get(dir, id) === undefined)
  const found = new Map<string, number | null>()
  for (const object of unknown.length === 0 ? [] : await readObjects(dir, unknown, MAX_READ)) {
    const date = object && dateOf(object)
    if (date === null) continue
    dates.set(dir, object!.id, date)
    found.set(object!.id, date)
  }
  return ids.map((id) => found.get(id) ?? dates.get(dir, id) ?? null)
}

function dateOf({ id, type, content }: GitObject): number | null {
  if (!content || (type !== 'commit' && type !== 'tag')) return null
  const person = type === 'commit' ? parseCommit(id, content).committer : parseTag(content).tagger
  return person && isPlain(person) ? person.date.getTime() / 1000 : null
}

function isPlain({ name, email, date }: Person): boolean {
  const seconds = date.getTime() / 1000
  return !/[<>]/.test(name + email) && seconds > 0 && seconds < LAST_SECOND
}
