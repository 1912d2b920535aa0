import { sql, type RawBuilder } from 'kysely'
import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { Guest } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { likePattern } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import type { LoadedTopic } from './entity.ts'

const isAdministrator = (viewer: User | null) => viewer?.state === 'active' && viewer.admin

/** The number of projects with the topic that the viewer may see. */
function projectsSeen(viewer: User | null): RawBuilder<number> {
  const open = sql.join(openVisibilities(viewer))
  const seen = isAdministrator(viewer)
    ? sql`1 = 1`
    : sql`(p.visibility in (${open}) or exists (select 1 from project_authorizations a where a.project_id = p.id
        and a.user_id = ${viewer?.state === 'active' ? viewer.id : 0} and a.access_level >= ${sql.lit(Guest)}))`
  return sql`(select count(*) from project_topics t join projects p on p.id = t.project_id
    where lower(t.name) = lower(topics.name) and not p.deleting and ${seen})`
}

/** A topic without a description is listed only for viewers who may see one of its projects. */
function topicsSeen(db: Db, viewer: User | null) {
  const total = projectsSeen(viewer)
  const all = db.selectFrom('topics').selectAll('topics').select(total.as('total'))
  return isAdministrator(viewer) ? all : all.where(sql<boolean>`(topics.curated or ${total} > 0)`)
}

interface TopicFilter {
  readonly search?: string | null | undefined
  readonly without_projects?: boolean | null | undefined
}

/** Topics with most projects first. */
export function listTopics(
  db: Db,
  viewer: User | null,
  { search, without_projects }: TopicFilter,
  page: PageRequest,
): Promise<Page<LoadedTopic>> {
  const pattern = search?.trim() ? likePattern(search.trim()) : null
  const found = topicsSeen(db, viewer)
    .$if(pattern !== null, (query) =>
      query.where(sql<boolean>`(lower(topics.name) like lower(${pattern}) escape '\\'
        or lower(topics.title) like lower(${pattern}) escape '\\')`),
    )
    .$if(Boolean(without_projects), (query) =>
      query.where(sql<boolean>`not exists (select 1 from project_topics t where lower(t.name) = lower(topics.name))`),
    )
    .orderBy('total', 'desc')
    .orderBy('topics.id')
  return pageOfQuery(found, page)
}

export async function findTopic(db: Db, viewer: User | null, id: number): Promise<LoadedTopic | null> {
  return (await topicsSeen(db, viewer).where('topics.id', '=', id).executeTakeFirst()) ?? null
}

export const topic = resource({
  name: 'Topic',
  params: z.object({ id }),
  policy: publicPolicy,
  async find(app, { id }, viewer) {
    const found = await findTopic(app.db, viewer, id)
    return found && { topic: found }
  },
})
