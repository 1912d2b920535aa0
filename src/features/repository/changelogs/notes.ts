/** Release notes of a version: commits with a changelog trailer, grouped by the value of the trailer. */
import type { Commit } from '../../../git/objects/commits.ts'
import { compareVersions, parseVersion } from './versions.ts'

export interface Notes {
  readonly version: string
  /** `YYYY-MM-DD` */
  readonly date: string
  /** Newest first. */
  readonly commits: readonly Commit[]
  readonly trailer: string
  /** The project path in commit references: `group/project`. */
  readonly path: string
}

const REVERTS = /^This reverts commit ([0-9a-f]{40})\.?$/m

export function notesFor({ version, date, commits, trailer, path }: Notes): string {
  const reverted = new Set(commits.map(({ message }) => REVERTS.exec(message)?.[1]))
  const listed = commits.filter(({ id, message }) => !reverted.has(id) && !REVERTS.test(message))
  const entries = listed.flatMap((commit) => {
    const category = trailerOf(commit.message, trailer)
    return category === null ? [] : [{ category, line: `- [${commit.title}](${path}@${commit.id})` }]
  })
  const sections = [...Map.groupBy(entries, ({ category }) => category)].map(([category, changes]) => {
    const count = changes.length === 1 ? '1 change' : `${changes.length} changes`
    return `### ${category} (${count})\n\n${changes.map(({ line }) => line).join('\n')}\n`
  })
  return `## ${version} (${date})\n\n${sections.length > 0 ? sections.join('\n') : 'No changes.\n'}`
}

/** Reads the last paragraph, like git. The case of the name does not matter. */
function trailerOf(message: string, name: string): string | null {
  const paragraphs = message.trimEnd().split(/\n\s*\n/)
  if (paragraphs.length < 2) return null
  const prefix = `${name.toLowerCase()}:`
  const line = paragraphs
    .at(-1)!
    .split('\n')
    .findLast((one) => one.toLowerCase().startsWith(prefix))
  return line?.slice(prefix.length).trim() || null
}

const HEADING = /^## (\S+)/

/** Inserts the notes before the first older version. Null if the file already describes this version. */
export function insertNotes(content: string, version: string, notes: string): string | null {
  const own = parseVersion(version)!
  const lines = content.split('\n')
  const headings = lines.flatMap((line, at) => {
    const found = parseVersion(HEADING.exec(line)?.[1] ?? '')
    return found ? [{ at, order: compareVersions(found, own), text: HEADING.exec(line)![1] }] : []
  })
  if (headings.some(({ text }) => text === version)) return null
  const at = headings.find(({ order }) => order < 0)?.at ?? lines.length
  const before = lines.slice(0, at).join('\n').trimEnd()
  const after = lines.slice(at).join('\n').trim()
  return [before, notes.trimEnd(), after].filter((part) => part !== '').join('\n\n') + '\n'
}
