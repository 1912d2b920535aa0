import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, moment, text } from '../../../api/wire.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import { UserAgentDetailEntity } from '../issues/entity.ts'
import { SnippetEntity } from './entity.ts'
import { assertChange, assertNew, changes, code, creation, visibility } from './input.ts'
import { listSnippets } from './lists.ts'
import {
  findUserAgentDetail,
  projectSnippetByItsName,
  presentOneSnippet,
  presentSnippets,
  projectSnippet,
  snippets,
} from './queries.ts'
import { answerRaw } from './raw.ts'
import { renderSnippet } from './rendering.ts'
import { createSnippet, deleteSnippet, updateSnippet } from './service.ts'

const PATH = '/projects/:id/snippets/:snippet_id'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'List the snippets of a project',
  on: snippets,
  allow: 'read',
  by: 'visitor',
  input: z.object({ created_after: blankable(moment), created_before: blankable(moment) }),
  output: pageOf(SnippetEntity),
  async handle({ app, viewer, subject, input, page }) {
    if (!hasFeature(subject, 'snippets')) return { items: [], total: 0 }
    const { items, total } = await listSnippets(app, viewer, { ...input, project: subject.project.id }, page)
    return { total, items: await presentSnippets(app, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'Get a snippet of a project',
  on: projectSnippet,
  allow: 'read',
  by: 'visitor',
  input: z.object({ render_html: bool.nullish() }),
  output: SnippetEntity,
  handle: ({ app, viewer, subject, input }) =>
    input.render_html ? renderSnippet(app, viewer, subject, subject.snippet) : presentOneSnippet(app, subject.snippet),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Create a snippet in a project',
  on: snippets,
  allow: 'createSnippet',
  input: z.object({ ...creation, code, visibility }),
  output: SnippetEntity,
  async handle({ app, viewer, caller, userAgent, subject, input }) {
    const request = { ...input, content: input.content ?? input.code }
    assertNew(request, 'code')
    const sender = { address: caller.address, userAgent }
    return presentOneSnippet(app, await createSnippet(app, viewer, subject.project, request, sender))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: PATH,
  summary: 'Update a snippet of a project',
  on: projectSnippetByItsName,
  allow: 'change',
  input: z.object({ ...changes, code }),
  output: SnippetEntity,
  async handle({ app, viewer, subject, input }) {
    const request = { ...input, content: input.content ?? input.code }
    assertChange(request, Object.keys(changes))
    return presentOneSnippet(app, await updateSnippet(app, viewer, subject.snippet, request))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: PATH,
  summary: 'Delete a snippet of a project',
  on: projectSnippetByItsName,
  allow: 'change',
  changedAt: ({ snippet }) => snippet.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => deleteSnippet(app, viewer, subject.snippet),
})

export const raw = endpoint({
  method: 'GET',
  path: `${PATH}/raw`,
  summary: 'Get the text of a snippet of a project',
  on: projectSnippetByItsName,
  allow: 'read',
  by: 'visitor',
  output: z.string(),
  handle: ({ app, subject }) => answerRaw(app, subject.snippet),
})

export const rawFile = endpoint({
  method: 'GET',
  path: `${PATH}/files/:ref/:file_path/raw`,
  summary: 'Get the text of a file of a snippet of a project',
  on: projectSnippetByItsName,
  allow: 'read',
  by: 'visitor',
  input: z.object({ ref: text, file_path: text }),
  output: z.string(),
  handle: ({ app, subject, input }) => answerRaw(app, subject.snippet, input),
})

export const userAgentDetail = endpoint({
  method: 'GET',
  path: `${PATH}/user_agent_detail`,
  summary: 'Get the user agent details of a project snippet',
  on: projectSnippet,
  allow: 'administrator',
  output: UserAgentDetailEntity,
  handle: ({ app, subject }) => findUserAgentDetail(app.db, subject.snippet),
})
