import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { filled, limited } from '../../../api/rules.ts'
import { bool, file, id, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { LARGEST_AVATAR } from '../../identity/users/avatar.ts'
import { TopicEntity, presentTopic } from './entity.ts'
import { findTopic, listTopics, topic } from './queries.ts'
import { createTopic, deleteTopic, mergeTopics, updateTopic } from './service.ts'

async function found(app: App, viewer: User | null, id: number) {
  const topic = await findTopic(app.db, viewer, id)
  if (!topic) throw notFound('Topic')
  return topic
}

export const list = endpoint({
  method: 'GET',
  path: '/topics',
  summary: 'List topics of projects',
  by: 'visitor',
  allow: 'anyone',
  input: z.object({ search: text.nullish(), without_projects: bool.nullish() }),
  output: pageOf(TopicEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listTopics(app.db, viewer, input, page)
    return { total, items: items.map((topic) => presentTopic(topic, app)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/topics/:id',
  summary: 'Get a topic',
  on: topic,
  by: 'visitor',
  allow: 'anyone',
  output: TopicEntity,
  handle: async ({ app, subject }) => presentTopic(subject.topic, app),
})

const topicText = filled(text, 255)
const description = limited(text, 1024).nullish()

export const create = endpoint({
  method: 'POST',
  path: '/topics',
  summary: 'Create a topic',
  ...administratorsFirst,
  upload: LARGEST_AVATAR * 2,
  input: z.object({ name: topicText, title: topicText, description, avatar: file.nullish() }),
  output: TopicEntity,
  handle: async ({ app, input }) => presentTopic({ ...(await createTopic(app, input)), total: 0 }, app),
})

export const update = endpoint({
  method: 'PUT',
  path: '/topics/:id',
  summary: 'Update a topic',
  on: topic,
  ...administratorsFirst,
  upload: LARGEST_AVATAR * 2,
  input: z.object({
    name: topicText.nullish(),
    title: topicText.nullish(),
    description,
    avatar: z.union([file, z.literal('')]).nullish(),
  }),
  output: TopicEntity,
  async handle({ app, viewer, subject, input }) {
    await updateTopic(app, subject.topic, input)
    return presentTopic(await found(app, viewer, subject.topic.id), app)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/topics/:id',
  summary: 'Delete a topic, also from projects',
  on: topic,
  ...administratorsFirst,
  output: null,
  handle: ({ app, subject }) => deleteTopic(app, subject.topic),
})

export const merge = endpoint({
  method: 'POST',
  path: '/topics/merge',
  summary: 'Merge two topics',
  ...administratorsFirst,
  input: z.object({ source_topic_id: id, target_topic_id: id }),
  output: TopicEntity,
  async handle({ app, viewer, input }) {
    const [source, target] = [
      await found(app, viewer, input.source_topic_id),
      await found(app, viewer, input.target_topic_id),
    ]
    await mergeTopics(app, source, target)
    return presentTopic(await found(app, viewer, target.id), app)
  },
})
