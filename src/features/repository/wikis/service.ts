import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Upload } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, invalid, notFound } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import { BadChange, buildCommit, type Change, type CommitWords } from '../../../git/objects/building.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { signerOf } from '../commits/landing.ts'
import type { ChangedPage } from '../gate/model.ts'
import { webPusher } from '../gate/service.ts'
import { withBranchMutex } from '../gate/branch-mutex.ts'
import { WIKI_BRANCH, changeWiki, openWiki } from '../gate/wikis.ts'
import { UPLOADS, fileOf, pageOfFile, slugOf, titleOf, type Format } from './pages.ts'
import { WIKI_REF, findPage, type Page } from './queries.ts'

export interface PageRequest {
  title: string
  content: string
  format: Format
}

const duplicate = (slug: string) =>
  invalid({ base: [`Duplicate page: A page with that title already exists in ${slug}`] })

function slugFor(title: string): string {
  const slug = slugOf(title)
  if (slug === null) throw invalid({ title: [title.trim() === '' ? BLANK : 'is invalid'] })
  return slug
}

export async function createPage(app: App, actor: User, subject: ProjectSubject, input: PageRequest): Promise<Page> {
  const slug = slugFor(input.title)
  const path = fileOf(slug, input.format)
  const page = { action: 'create', slug, path } as const
  await commit(app, actor, subject, { did: `created page: ${titleOf(slug)}`, page }, async () => {
    if (await findPage(app, subject.project, slug)) throw duplicate(slug)
    return [{ path, content: input.content }]
  })
  return (await findPage(app, subject.project, slug))!
}

/** Omitted fields stay. A new title means a new file. */
export async function updatePage(
  app: App,
  actor: User,
  subject: ProjectSubject,
  page: Page,
  input: { title?: string | null | undefined; content: string; format?: Format | null | undefined },
): Promise<Page> {
  const slug = input.title && slugFor(input.title) !== page.slug ? movedSlug(page, input.title) : page.slug
  const path = input.format ? fileOf(slug, input.format) : `${slug}${/\.[A-Za-z]+$/.exec(page.path)![0]}`
  const changed = { action: 'update', slug, path } as const
  await commit(app, actor, subject, { did: `updated page: ${titleOf(slug)}`, page: changed }, async () => {
    const other = slug.toLowerCase() === page.slug.toLowerCase() ? null : await findPage(app, subject.project, slug)
    if (other) throw duplicate(slug)
    await assertThere(app, subject, page)
    const changes: Change[] = [{ path, content: input.content }]
    return path === page.path ? changes : [{ path: page.path, content: null }, ...changes]
  })
  return (await findPage(app, subject.project, slug))!
}

/** A title without slashes keeps the folder of the page. */
function movedSlug(page: Page, title: string): string {
  const folders = page.slug.split('/').slice(0, -1)
  return title.includes('/') ? slugFor(title) : [...folders, slugFor(title)].join('/')
}

export async function deletePage(app: App, actor: User, subject: ProjectSubject, page: Page): Promise<void> {
  const gone = { action: 'delete', slug: page.slug, path: page.path } as const
  await commit(app, actor, subject, { did: `deleted page: ${page.title}`, page: gone }, async () => {
    await assertThere(app, subject, page)
    return [{ path: page.path, content: null }]
  })
}

/** A concurrent request may have deleted or moved the page. */
async function assertThere(app: App, { project }: ProjectSubject, { slug, path }: Page): Promise<void> {
  if ((await findPage(app, project, slug))?.path !== path) throw notFound('Wiki Page')
}

/** Stores the file in the wiki's own repository, under an unguessable name. */
export async function attachFile(
  app: App,
  actor: User,
  subject: ProjectSubject,
  upload: Upload,
  branch: string,
): Promise<{ file_name: string; file_path: string }> {
  if (!isBranchName(branch)) throw new Refusal('bad_request', 'Branch name is invalid')
  const file_name =
    upload.filename
      .replace(/[^\w.-]/g, '_')
      .replace(/^[.-]+/, '_')
      .slice(-200) || 'file'
  const file_path = `${UPLOADS}/${randomBytes(16).toString('hex')}/${file_name}`
  const content = await readFile(upload.path)
  const changes = async () => [{ path: file_path, content }]
  await commit(app, actor, subject, { did: `added attachment: ${file_name}` }, changes, branch)
  return { file_name, file_path }
}

interface WikiAction {
  readonly did: string
  readonly page?: Pick<ChangedPage, 'action' | 'slug' | 'path'>
}

/** Calls `changes` once it has the mutex, and again after a concurrent change. */
async function commit(
  app: App,
  actor: User,
  { project, level }: ProjectSubject,
  { did, page }: WikiAction,
  changes: () => Promise<readonly Change[]>,
  branch = WIKI_BRANCH,
): Promise<void> {
  const dir = await openWiki(app, project)
  const ref = `refs/heads/${branch}`
  const signer = signerOf(app, actor)
  await withBranchMutex(dir, branch, async () => {
    const before = await resolveCommit(dir, ref)
    // A new branch starts with the existing pages.
    const base = before ?? (await resolveCommit(dir, WIKI_REF))
    const words = { message: `${actor.username} ${did}`, author: signer, committer: signer }
    const after = await commitOf(dir, base, await changes(), words)
    const payload = page && {
      ...page,
      title: titleOf(page.slug),
      format: pageOfFile(page.path)!.format,
      message: words.message,
      version: after,
      text: page.action === 'delete' ? before! : after,
    }
    await changeWiki(app, webPusher(actor, level), { project }, [{ ref, before, after }], payload)
  })
}

async function commitOf(
  dir: string,
  base: string | null,
  changes: readonly Change[],
  words: CommitWords,
): Promise<string> {
  try {
    return await buildCommit(dir, base, changes, words)
  } catch (error) {
    throw error instanceof BadChange ? new Refusal('bad_request', { title: ['is invalid'] }) : error
  }
}
