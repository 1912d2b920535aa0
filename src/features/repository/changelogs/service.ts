import { buffer } from 'node:stream/consumers'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { lastCommitOf, listCommits } from '../../../git/history/history.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { openBlob } from '../../../git/objects/objects.ts'
import { entryAt } from '../../../git/objects/trees.ts'
import { findBranch, listTags } from '../../../git/refs/refs.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { commitActions } from '../files/service.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { insertNotes, notesFor } from './notes.ts'
import { compareVersions, parseVersion } from './versions.ts'

const MOST_COMMITS = 5000
const LARGEST_FILE = 1024 * 1024

export interface ChangelogInput {
  /** A version that `parseVersion` accepts. */
  readonly version: string
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
  readonly date?: string | null | undefined
  readonly trailer?: string | null | undefined
}

const failure = (why: string) => new Refusal('unprocessable', `Failed to generate the changelog: ${why}`)

/** Describes the changes from the previous version to this one. */
export async function changelogOf(app: App, subject: RepositorySubject, input: ChangelogInput): Promise<string> {
  const { project, namespace, dir } = subject
  const to = await resolveCommit(dir, input.to || `refs/heads/${project.default_branch}`)
  if (to === null) throw failure('The end of the range does not exist')
  const from = await resolveCommit(dir, input.from || (await tagBefore(dir, input.version)))
  if (from === null) throw failure('The start of the range does not exist')
  return notesFor({
    version: input.version,
    date: (input.date ?? timestamp(app.clock)).slice(0, 10),
    commits: await listCommits(dir, { from: to, not: [from], limit: MOST_COMMITS }),
    trailer: input.trailer || 'Changelog',
    path: pathWithNamespace(project, namespace),
  })
}

/** The newest version before this one. Pre-releases do not count. */
async function tagBefore(dir: string, version: string): Promise<string> {
  const own = parseVersion(version)!
  const isEarlier = (name: string) => {
    const tag = parseVersion(name)
    return tag !== null && !tag.isPreview && compareVersions(tag, own) < 0
  }
  const { items } = await listTags(dir, { where: isEarlier })
  const newest = items
    .map(({ name }) => ({ name, version: parseVersion(name)! }))
    .toSorted((a, b) => compareVersions(b.version, a.version))[0]
  if (!newest) {
    throw failure('The commit start range is unspecified, and no previous tag could be found to use instead')
  }
  return `refs/tags/${newest.name}`
}

export interface ChangelogFileInput extends ChangelogInput {
  readonly branch?: string | null | undefined
  readonly file?: string | null | undefined
  readonly message?: string | null | undefined
}

/** A version that the file already describes stays as it is. */
export async function addToChangelog(
  app: App,
  actor: User,
  subject: RepositorySubject,
  input: ChangelogFileInput,
): Promise<void> {
  const { project, dir } = subject
  const branch = input.branch || project.default_branch
  const file_path = input.file || 'CHANGELOG.md'
  const notes = await changelogOf(app, subject, input)
  const known = await readFile(dir, branch, file_path)
  const content = insertNotes(known?.content ?? '', input.version, notes)
  if (content === null) return
  await commitActions(app, actor, subject, {
    branch,
    commit_message: input.message || `Add changelog for version ${input.version}`,
    actions: [{ action: known ? 'update' : 'create', file_path, content, last_commit_id: known?.lastCommit }],
    staleText: (path) => `${path} has changed meanwhile`,
  })
}

async function readFile(dir: string, branch: string, path: string) {
  const tip = (await findBranch(dir, branch))?.id
  const entry = tip ? await entryAt(dir, tip, path) : null
  if (!tip || entry?.type !== 'blob') return null
  const blob = await openBlob(dir, entry.id)
  if (!blob) return null
  if (blob.size > LARGEST_FILE) {
    blob.stream.destroy()
    throw failure('The file is too large')
  }
  return { content: (await buffer(blob.stream)).toString(), lastCommit: await lastCommitOf(dir, tip, path) }
}
