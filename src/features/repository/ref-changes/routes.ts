import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf, type Page } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { isFullRef } from '../../../git/process/arguments.ts'
import { surroundings } from '../../identity/users/queries.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repository } from '../repositories/queries.ts'
import { wiki } from '../wikis/queries.ts'
import { RefChangeEntity, WikiChangeEntity, presentRefChange, type LoadedRefChange } from './entity.ts'
import {
  listRefChanges,
  loadRefChanges,
  messagesOf,
  refChange,
  wikiRefChange,
  type ListedRefChange,
} from './queries.ts'
import { forgetRefChanges } from './forgetting.ts'
import { undoRefChange, undoWikiChange } from './service.ts'

const filter = z.object({
  ref: text
    .refine((name) => isFullRef(name), { message: 'ref is invalid' })
    .describe('The full name, such as `refs/heads/main`')
    .nullish(),
})

async function presentAll(app: App, { items, ...page }: Page<LoadedRefChange>) {
  const around = await surroundings(app)
  return { ...page, items: items.map((change) => presentRefChange(change, around)) }
}

async function presentWiki(app: App, project: Project, page: Page<LoadedRefChange>) {
  const [messages, shown] = await Promise.all([messagesOf(app, project, page.items), presentAll(app, page)])
  return { ...shown, items: shown.items.map((change, n) => ({ ...change, message: messages[n] ?? null })) }
}

async function present(app: App, change: ListedRefChange) {
  const [loaded] = await loadRefChanges(app.db, [change])
  return presentRefChange(loaded!, await surroundings(app))
}

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/ref_changes',
  summary: 'List the pushes, force pushes, creations and deletions of branches and tags, newest first',
  on: repository,
  allow: 'download',
  by: 'visitor',
  input: filter,
  output: pageOf(RefChangeEntity),
  handle: async ({ app, subject: { project }, input, page }) =>
    presentAll(app, await listRefChanges(app.db, { project, wiki: false }, input, page)),
})

export const undo = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/ref_changes/:change_id/undo',
  summary: 'Undo a change of a branch or tag',
  on: refChange,
  allow: 'push',
  output: RefChangeEntity,
  async handle({ app, viewer, subject }) {
    return present(app, await undoRefChange(app, viewer, subject, subject.change))
  },
})

export const forget = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/ref_changes/:change_id',
  summary: 'Forget a change and all earlier changes of the same ref, and delete the commits that only they keep',
  on: refChange,
  allow: 'forget',
  output: null,
  handle: ({ app, subject }) => forgetRefChanges(app, subject, subject.change),
})

export const listOfWiki = endpoint({
  method: 'GET',
  path: '/projects/:id/wikis/ref_changes',
  summary: 'List the changes of a wiki, newest first',
  on: wiki,
  allow: 'readWiki',
  by: 'visitor',
  input: filter,
  output: pageOf(WikiChangeEntity),
  handle: async ({ app, subject: { project }, input, page }) =>
    presentWiki(app, project, await listRefChanges(app.db, { project, wiki: true }, input, page)),
})

export const undoOfWiki = endpoint({
  method: 'POST',
  path: '/projects/:id/wikis/ref_changes/:change_id/undo',
  summary: 'Undo a change of a wiki',
  on: wikiRefChange,
  allow: 'write',
  output: RefChangeEntity,
  async handle({ app, viewer, subject }) {
    return present(app, await undoWikiChange(app, viewer, subject, subject.change))
  },
})
