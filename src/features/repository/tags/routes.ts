import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { longText, oneOf, text } from '../../../api/wire.ts'
import { Refusal } from '../../../errors.ts'
import { findRelease } from '../releases/queries.ts'
import { assertMayRelease, createRelease, updateRelease } from '../releases/service.ts'
import { assertValidRelease } from '../releases/validation.ts'
import { repository } from '../repositories/queries.ts'
import { ReleaseNoteEntity, TagEntity, presentNote, presentTag } from './entity.ts'
import { aroundTags, listLoadedTags, tag } from './queries.ts'
import { createTag, deleteTag } from './service.ts'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags',
  summary: 'List the tags of a repository',
  on: repository,
  allow: 'download',
  by: 'visitor',
  input: z.object({
    order_by: oneOf('name', 'updated', 'version').nullish(),
    sort: oneOf('asc', 'desc').nullish(),
    search: text.nullish(),
  }),
  refuses: ['page_token'],
  output: pageOf(TagEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listLoadedTags(subject.dir, {
      order: `${input.order_by ?? 'updated'}_${input.sort ?? 'desc'}`,
      ...(input.search && { search: input.search }),
      skip: page.offset,
      limit: page.limit,
    })
    const around = await aroundTags(app, subject, items)
    return { total, items: items.map((one) => presentTag(one, around)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/:tag_name',
  summary: 'Get a tag',
  on: tag,
  allow: 'download',
  by: 'visitor',
  output: TagEntity,
  async handle({ app, subject }) {
    return presentTag(subject.tag, await aroundTags(app, subject, [subject.tag]))
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/tags',
  summary: 'Create a tag; with a message, an annotated tag',
  on: repository,
  allow: 'push',
  input: z.object({
    tag_name: text,
    ref: text,
    message: longText.nullish(),
    release_description: longText.nullish(),
  }),
  output: TagEntity,
  async handle({ app, viewer, subject, input }) {
    const description = input.release_description
    if (description) assertValidRelease({ description })
    const made = await createTag(app, viewer, subject, input)
    if (description) await createRelease(app, viewer, subject, made, { description })
    return presentTag(made, await aroundTags(app, subject, [made]))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/tags/:tag_name',
  summary: 'Delete a tag and its release',
  on: tag,
  allow: 'push',
  changedAt: ({ tag }) => (tag.commit?.author.date ?? new Date(0)).toISOString(),
  output: null,
  handle: ({ app, viewer, subject }) => deleteTag(app, viewer, subject, subject.tag),
})

/** Release notes have their own 404 text for a missing tag. */
const notedTag = { ...tag, missing: 'Tag does not exist' }

export const createNote = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/tags/:tag_name/release',
  summary: 'Create the release note of a tag',
  on: notedTag,
  allow: 'push',
  alsoAsks: ['create the tag'],
  input: z.object({ description: longText }),
  output: ReleaseNoteEntity,
  async handle({ app, viewer, subject, input }) {
    await assertMayRelease(app, viewer, subject, subject.tag.name)
    return presentNote(await createRelease(app, viewer, subject, subject.tag, input))
  },
})

export const updateNote = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/tags/:tag_name/release',
  summary: 'Update the release note of a tag',
  on: notedTag,
  allow: 'push',
  alsoAsks: ['create the tag'],
  input: z.object({ description: longText }),
  output: ReleaseNoteEntity,
  async handle({ app, viewer, subject, input }) {
    const release = await findRelease(app.db, subject.project.id, subject.tag.name)
    if (!release) throw new Refusal('not_found', 'Release does not exist')
    return presentNote(await updateRelease(app, viewer, subject, release, input))
  },
})
