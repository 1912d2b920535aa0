import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { answerList } from '../../../api/streamed-lists.ts'
import { bool, documentText, file, filledText, oneOf, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { listHistory } from '../../../git/history/history.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { WIKI_BRANCH } from '../gate/wikis.ts'
import {
  WikiAttachmentEntity,
  WikiPageEntity,
  WikiPageSummaryEntity,
  WikiVersionEntity,
  presentAttachment,
  presentPage,
  presentPageSummary,
  presentVersion,
} from './entity.ts'
import { FORMAT_NAMES } from './pages.ts'
import { WIKI_REF, contentsOf, listPages, withContents, wiki, wikiPage, wikiPageAt, type Page } from './queries.ts'
import { renderPage } from './rendering.ts'
import { attachFile, createPage, deletePage, updatePage } from './service.ts'

const LARGEST_ATTACHMENT = 100 * 1024 * 1024
/** More than any reader needs. */
const LONGEST_PAGE = 5_000_000
const LARGEST_BODY = 10 * 1024 * 1024
const pageText = documentText.refine((content) => content.length <= LONGEST_PAGE)
const format = oneOf(...(FORMAT_NAMES as [(typeof FORMAT_NAMES)[number]])).nullish()

async function present(app: App, project: Project, page: Page) {
  const [content = ''] = await contentsOf(app, project, [page])
  return presentPage(page, content)
}

/** Returns all pages: this list has no pagination. */
export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/wikis',
  summary: 'List the pages of a wiki',
  on: wiki,
  allow: 'readWiki',
  by: 'visitor',
  input: z.object({ with_content: bool.nullish() }),
  output: z.array(z.union([WikiPageEntity, WikiPageSummaryEntity])),
  async handle({ app, subject, input }) {
    const pages = await listPages(app, subject.project)
    if (!input.with_content) return pages.map(presentPageSummary)
    // Streams the pages, because together they may exceed the memory.
    return answerList(withContents(app, subject.project, pages), ([page, content]) => presentPage(page, content))
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/wikis/:slug',
  summary: 'Get a page of a wiki',
  on: wikiPageAt,
  allow: 'readWiki',
  by: 'visitor',
  input: z.object({ render_html: bool.nullish() }),
  output: WikiPageEntity,
  async handle({ app, subject, input }) {
    const shown = await present(app, subject.project, subject.page)
    return input.render_html ? { ...shown, content: await renderPage(app, subject, shown) } : shown
  },
})

export const history = endpoint({
  method: 'GET',
  path: '/projects/:id/wikis/:slug/history',
  summary: 'List the changes of a page of a wiki',
  on: wikiPage,
  allow: 'readWiki',
  by: 'visitor',
  output: pageOf(WikiVersionEntity),
  async handle({ app, subject, page: { offset, limit } }) {
    const { project, page } = subject
    const request = { from: WIKI_REF, path: page.path }
    const { commits, total } = await listHistory(wikiDir(app, project), request, { skip: offset, limit })
    return { total, items: commits.map(presentVersion) }
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/wikis',
  summary: 'Add a page to a wiki',
  on: wiki,
  allow: 'write',
  body: LARGEST_BODY,
  input: z.object({ title: text, content: pageText, format }),
  output: WikiPageEntity,
  async handle({ app, viewer, subject, input }) {
    const request = { title: input.title, content: input.content, format: input.format ?? 'markdown' }
    return present(app, subject.project, await createPage(app, viewer, subject, request))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/wikis/:slug',
  summary: 'Update a page of a wiki',
  on: wikiPage,
  allow: 'write',
  body: LARGEST_BODY,
  input: z
    .object({ title: filledText.nullish(), content: pageText.nullish(), format })
    .refine(({ title, content, format }) => (title ?? content ?? format ?? null) !== null, {
      message: 'title, content, format are missing, at least one parameter must be provided',
    }),
  output: WikiPageEntity,
  async handle({ app, viewer, subject, input }) {
    const { page } = subject
    const content = input.content ?? (await contentsOf(app, subject.project, [page]))[0] ?? ''
    return present(app, subject.project, await updatePage(app, viewer, subject, page, { ...input, content }))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/wikis/:slug',
  summary: 'Remove a page from a wiki',
  on: wikiPage,
  allow: 'remove',
  output: null,
  handle: ({ app, viewer, subject }) => deletePage(app, viewer, subject, subject.page),
})

export const attach = endpoint({
  method: 'POST',
  path: '/projects/:id/wikis/attachments',
  summary: 'Upload a file to a wiki',
  on: wiki,
  allow: 'write',
  upload: LARGEST_ATTACHMENT,
  input: z.object({ file, branch: text.nullish() }),
  output: WikiAttachmentEntity,
  async handle({ app, viewer, subject, input }) {
    const branch = input.branch || WIKI_BRANCH
    return presentAttachment({ ...(await attachFile(app, viewer, subject, input.file, branch)), branch })
  },
})
