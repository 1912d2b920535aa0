import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, moment, text } from '../../../api/wire.ts'
import { forbidden } from '../../../errors.ts'
import { UserAgentDetailEntity } from '../issues/entity.ts'
import { SnippetEntity } from './entity.ts'
import { assertChange, assertNew, changes, creation, visibility } from './input.ts'
import { listSnippets } from './lists.ts'
import { changeableSnippet, findUserAgentDetail, presentOneSnippet, presentSnippets, snippet } from './queries.ts'
import { answerRaw } from './raw.ts'
import { renderSnippet } from './rendering.ts'
import { createSnippet, deleteSnippet, updateSnippet } from './service.ts'

const PATH = '/snippets/:id'
const times = z.object({ created_after: blankable(moment), created_before: blankable(moment) })

export const listOwn = endpoint({
  method: 'GET',
  path: '/snippets',
  summary: 'List the snippets of the signed-in user',
  allow: 'signed_in',
  input: times,
  output: pageOf(SnippetEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listSnippets(app, viewer, { ...input, author: viewer.id }, page)
    return { total, items: await presentSnippets(app, items) }
  },
})

export const listPublic = endpoint({
  method: 'GET',
  path: '/snippets/public',
  summary: 'List public snippets',
  allow: 'signed_in',
  input: times,
  output: pageOf(SnippetEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listSnippets(app, viewer, { ...input, public: true }, page)
    return { total, items: await presentSnippets(app, items) }
  },
})

export const listAll = endpoint({
  method: 'GET',
  path: '/snippets/all',
  summary: 'List every snippet that the signed-in user may read',
  allow: 'signed_in',
  input: times,
  output: pageOf(SnippetEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listSnippets(app, viewer, input, page)
    return { total, items: await presentSnippets(app, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'Get a snippet',
  on: snippet,
  allow: 'read',
  by: 'visitor',
  input: z.object({ render_html: bool.nullish() }),
  output: SnippetEntity,
  handle: ({ app, viewer, subject: { snippet, home }, input }) =>
    input.render_html ? renderSnippet(app, viewer, home, snippet) : presentOneSnippet(app, snippet),
})

export const create = endpoint({
  method: 'POST',
  path: '/snippets',
  summary: 'Create a snippet of the signed-in user',
  allow: 'signed_in',
  alsoAsks: ['create snippets, which external users do not have'],
  input: z.object({ ...creation, visibility: visibility.nullish() }),
  output: SnippetEntity,
  async handle({ app, viewer, caller, userAgent, input }) {
    if (viewer.external) throw forbidden()
    assertNew(input, 'content')
    const request = { ...input, visibility: input.visibility ?? 'internal' }
    return presentOneSnippet(
      app,
      await createSnippet(app, viewer, null, request, { address: caller.address, userAgent }),
    )
  },
})

export const update = endpoint({
  method: 'PUT',
  path: PATH,
  summary: 'Update a snippet',
  on: changeableSnippet,
  allow: 'read',
  input: z.object(changes),
  output: SnippetEntity,
  async handle({ app, viewer, subject, input }) {
    assertChange(input, Object.keys(changes))
    return presentOneSnippet(app, await updateSnippet(app, viewer, subject.snippet, input))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: PATH,
  summary: 'Delete a snippet',
  on: changeableSnippet,
  allow: 'read',
  changedAt: ({ snippet }) => snippet.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => deleteSnippet(app, viewer, subject.snippet),
})

export const raw = endpoint({
  method: 'GET',
  path: `${PATH}/raw`,
  summary: 'Get the text of a snippet',
  on: snippet,
  allow: 'read',
  by: 'visitor',
  output: z.string(),
  handle: ({ app, subject }) => answerRaw(app, subject.snippet),
})

export const rawFile = endpoint({
  method: 'GET',
  path: `${PATH}/files/:ref/:file_path/raw`,
  summary: 'Get the text of a file of a snippet',
  on: snippet,
  allow: 'read',
  by: 'visitor',
  input: z.object({ ref: text, file_path: text }),
  output: z.string(),
  handle: ({ app, subject, input }) => answerRaw(app, subject.snippet, input),
})

export const userAgentDetail = endpoint({
  method: 'GET',
  path: `${PATH}/user_agent_detail`,
  summary: 'Get the user agent details of a snippet',
  on: snippet,
  allow: 'administrator',
  output: UserAgentDetailEntity,
  handle: ({ app, subject }) => findUserAgentDetail(app.db, subject.snippet),
})
