import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { API } from '../../../api/router.ts'
import { blankable, bool, listOf, longText, moment, oneOf, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { repository } from '../repositories/queries.ts'
import { ReleaseEntity } from './entity.ts'
import { assets, pathIn } from './input.ts'
import type { Release } from './model.ts'
import { latestRelease, linkByPath, listReleases, presentReleases, release } from './queries.ts'
import { withHtml } from './rendering.ts'
import { deleteRelease, publishRelease, updateRelease } from './service.ts'

const reading = { allow: 'download', by: ['visitor', 'job'] } as const

const fields = {
  name: text.nullish(),
  description: longText.nullish(),
  released_at: blankable(moment),
  milestones: listOf(text).nullish(),
}

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/releases',
  summary: 'List the releases of a project',
  on: repository,
  ...reading,
  input: z.object({
    order_by: oneOf('released_at', 'created_at').nullish(),
    sort: oneOf('asc', 'desc').nullish(),
    updated_after: blankable(moment),
    updated_before: blankable(moment),
    include_html_description: blankable(bool),
  }),
  output: pageOf(ReleaseEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listReleases(app.db, subject.project.id, input, page)
    const records = await presentReleases(app, subject, items)
    return { total, items: input.include_html_description ? await withHtml(app, subject, records) : records }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name',
  summary: 'Get the release of a tag',
  on: release,
  ...reading,
  input: z.object({ include_html_description: blankable(bool) }),
  output: ReleaseEntity,
  async handle({ app, subject, input }) {
    const records = await presentReleases(app, subject, [subject.release])
    return (input.include_html_description ? await withHtml(app, subject, records) : records)[0]!
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/releases',
  summary: 'Create a release; a missing tag is created from a ref',
  on: repository,
  allow: 'push',
  alsoAsks: ['create the tag'],
  by: ['user', 'job'],
  input: z.object({ tag_name: text, ref: text.nullish(), tag_message: longText.nullish(), assets, ...fields }),
  output: ReleaseEntity,
  async handle({ app, viewer, subject, input }) {
    const links = (input.assets?.links ?? []).map(pathIn)
    const published = await publishRelease(app, viewer, subject, { ...input, links })
    return (await presentReleases(app, subject, [published]))[0]!
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/releases/:tag_name',
  summary: 'Update a release',
  on: release,
  allow: 'push',
  alsoAsks: ['create the tag'],
  by: ['user', 'job'],
  input: z.object(fields),
  output: ReleaseEntity,
  async handle({ app, viewer, subject, input }) {
    const updated = await updateRelease(app, viewer, subject, subject.release, input)
    return (await presentReleases(app, subject, [updated]))[0]!
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/releases/:tag_name',
  summary: 'Delete a release; the tag is kept',
  on: release,
  allow: 'push',
  alsoAsks: ['create the tag'],
  by: ['user', 'job'],
  output: ReleaseEntity,
  async handle({ app, viewer, subject }) {
    const [record] = await presentReleases(app, subject, [subject.release])
    await deleteRelease(app, viewer, subject, subject.release)
    return record!
  },
})

export const latest = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/permalink/latest',
  summary: 'Redirect to the latest release',
  on: latestRelease,
  ...reading,
  output: null,
  handle: async ({ app, subject }) => goTo(app, subject.release, []),
})

export const inLatest = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/permalink/latest/*',
  summary: 'Redirect to an asset of the latest release',
  on: latestRelease,
  ...reading,
  input: z.object({ '*': text }),
  output: null,
  handle: async ({ app, subject, input }) => goTo(app, subject.release, input['*'].split('/')),
})

function goTo(app: App, { project_id, tag }: Release, rest: readonly string[]): Answer {
  const path = [tag, ...rest].map(encodeURIComponent).join('/')
  return new Answer(302, undefined, { Location: `${app.url}${API}/projects/${project_id}/releases/${path}` })
}

export const download = endpoint({
  method: 'GET',
  path: '/projects/:id/releases/:tag_name/downloads/*',
  summary: 'Redirect to the target of a release link',
  on: linkByPath,
  ...reading,
  output: null,
  handle: async ({ subject }) => new Answer(302, undefined, { Location: new URL(subject.link.url).href }),
})
