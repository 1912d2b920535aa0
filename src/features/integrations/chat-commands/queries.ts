import type { App, User } from '../../../context.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { ChatName } from './model.ts'

const ofUser = (db: Db, { id }: User) => db.selectFrom('chat_names').selectAll().where('user_id', '=', id)

export const listChatNames = ({ db }: App, owner: User, page: PageRequest): Promise<Page<ChatName>> =>
  pageOfQuery(ofUser(db, owner).orderBy('id'), page)

export async function findChatName({ db }: App, owner: User, id: number): Promise<ChatName | null> {
  return (await ofUser(db, owner).where('id', '=', id).executeTakeFirst()) ?? null
}

/** The service and its scope, which the page shows before a user links an account. */
export async function scopeOfService({ db }: App, id: number): Promise<{ slug: string; path: string } | null> {
  const found = await db
    .selectFrom('services')
    .leftJoin('projects', 'projects.id', 'services.project_id')
    .leftJoin('namespaces', (join) =>
      join.on((eb) =>
        eb('namespaces.id', '=', eb.fn.coalesce(eb.ref('services.group_id'), eb.ref('projects.namespace_id'))),
      ),
    )
    .select(['services.slug', 'namespaces.full_path', 'projects.path'])
    .where('services.id', '=', id)
    .where('services.active', '=', true)
    .executeTakeFirst()
  return found ? { slug: found.slug, path: [found.full_path, found.path].filter(Boolean).join('/') } : null
}
