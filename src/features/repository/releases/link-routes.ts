import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { pageOfArray } from '../../../store/pages.ts'
import { ReleaseLinkEntity, presentLink } from './entity.ts'
import { changedLink, newLink, pathIn } from './input.ts'
import { addLink, removeLink, updateLink } from './links.ts'
import type { Release, ReleaseLink } from './model.ts'
import { linkOf, linksOf, release } from './queries.ts'
import { assertMayRelease } from './service.ts'

/** A protected tag may forbid changes to its release. That check comes before the 404 of a missing link. */
const changeable: typeof release = {
  ...release,
  async find(app, params, viewer, parent) {
    const subject = await release.find(app, params, viewer, parent)
    if (subject) await assertMayRelease(app, viewer!, subject, subject.release.tag)
    return subject
  },
}
const changeableLink = linkOf(changeable)

const shown = (app: App, { project_id, tag }: Release, link: ReleaseLink) =>
  presentLink(link, { url: app.url, projectId: project_id, tag })

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name/assets/links',
  summary: 'List the links of a release',
  on: release,
  allow: 'download',
  by: ['visitor', 'job'],
  output: pageOf(ReleaseLinkEntity),
  async handle({ app, subject, page }) {
    const { items, total } = pageOfArray(await linksOf(app.db, [subject.release]), page)
    return { total, items: items.map((link) => shown(app, subject.release, link)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name/assets/links/:link_id',
  summary: 'Get a link of a release',
  on: linkOf(release),
  allow: 'download',
  by: ['visitor', 'job'],
  output: ReleaseLinkEntity,
  handle: async ({ app, subject }) => shown(app, subject.release, subject.link),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/releases/:tag_name/assets/links',
  summary: 'Add a link to a release',
  on: changeable,
  allow: 'push',
  alsoAsks: ['create the tag'],
  by: ['user', 'job'],
  input: z.object(newLink),
  output: ReleaseLinkEntity,
  async handle({ app, viewer, subject, input }) {
    return shown(app, subject.release, await addLink(app, viewer, subject.release, pathIn(input)))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/releases/:tag_name/assets/links/:link_id',
  summary: 'Update a link of a release',
  on: changeableLink,
  allow: 'push',
  alsoAsks: ['create the tag'],
  by: ['user', 'job'],
  input: z.object(changedLink),
  output: ReleaseLinkEntity,
  async handle({ app, viewer, subject, input }) {
    return shown(app, subject.release, await updateLink(app, viewer, subject.release, subject.link, pathIn(input)))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/releases/:tag_name/assets/links/:link_id',
  summary: 'Remove a link from a release',
  on: changeableLink,
  allow: 'push',
  alsoAsks: ['create the tag'],
  by: ['user', 'job'],
  output: ReleaseLinkEntity,
  async handle({ app, viewer, subject }) {
    await removeLink(app, viewer, subject.release, subject.link)
    return shown(app, subject.release, subject.link)
  },
})
