import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Topic } from './model.ts'

export const TopicEntity = entity({
  id: z.int(),
  name: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  /** Counts the projects that the viewer may see. */
  total_projects_count: z.int(),
  avatar_url: z.string().nullable(),
}).meta({ id: 'Topic' })

export interface LoadedTopic extends Topic {
  readonly total: number
}

export const presentTopic = (topic: LoadedTopic, { url }: { readonly url: string }): z.infer<typeof TopicEntity> => ({
  id: topic.id,
  name: topic.name,
  title: topic.title ?? topic.name,
  description: topic.description,
  total_projects_count: Number(topic.total),
  avatar_url:
    topic.avatar_filename &&
    `${url}/uploads/-/system/projects/topic/avatar/${topic.id}/${encodeURIComponent(topic.avatar_filename)}`,
})
