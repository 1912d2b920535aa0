import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { ReleaseLinkEntity, presentLink } from './entity.ts'
import { changedLink, newLink, pathIn } from './input.ts'
import { addLink, removeLink, updateLink } from './links.ts'
import type { Release, ReleaseLink } from './model.ts'
import { findLink, linksOf, release, type ReleaseSubject } from './queries.ts'
import { assertMayRelease } from './service.ts'
import { found } from './validation.ts'

const reading = { on: release, allow: 'download', guest: true, abilityFirst: true } as const
const writing = { on: release, allow: 'push', abilityFirst: 'download' } as const

const shown = (app: App, { project }: ReleaseSubject, { tag }: Release, link: ReleaseLink) =>
  presentLink(link, { url: app.url, projectId: project.id, tag })

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name/assets/links',
  summary: 'List the links of a release',
  ...reading,
  output: pageOf(ReleaseLinkEntity),
  async handle({ app, subject, page }) {
    const of = found(subject.release)
    const links = await linksOf(app.db, [of])
    const items = links.slice(page.offset, page.offset + page.limit)
    return { total: links.length, items: items.map((link) => shown(app, subject, of, link)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name/assets/links/:link_id',
  summary: 'Get a link of a release',
  ...reading,
  input: z.object({ link_id: id }),
  output: ReleaseLinkEntity,
  async handle({ app, subject, input }) {
    const of = found(subject.release)
    return shown(app, subject, of, found(await findLink(app.db, of, input.link_id)))
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/releases/:tag_name/assets/links',
  summary: 'Add a link to a release',
  ...writing,
  input: z.object(newLink),
  output: ReleaseLinkEntity,
  async handle({ app, viewer, subject, input }) {
    const of = await changeable(app, viewer, subject)
    return shown(app, subject, of, await addLink(app, viewer, of, pathIn(input)))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/releases/:tag_name/assets/links/:link_id',
  summary: 'Change a link of a release',
  ...writing,
  input: z.object({ link_id: id, ...changedLink }),
  output: ReleaseLinkEntity,
  async handle({ app, viewer, subject, input }) {
    const of = await changeable(app, viewer, subject)
    const link = found(await findLink(app.db, of, input.link_id))
    return shown(app, subject, of, await updateLink(app, viewer, of, link, pathIn(input)))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/releases/:tag_name/assets/links/:link_id',
  summary: 'Remove a link from a release',
  ...writing,
  input: z.object({ link_id: id }),
  output: ReleaseLinkEntity,
  async handle({ app, viewer, subject, input }) {
    const of = await changeable(app, viewer, subject)
    const link = found(await findLink(app.db, of, input.link_id))
    await removeLink(app, viewer, of, link)
    return shown(app, subject, of, link)
  },
})

async function changeable(app: App, viewer: User, subject: ReleaseSubject): Promise<Release> {
  const of = found(subject.release)
  await assertMayRelease(app, viewer, subject, of.tag)
  return of
}
