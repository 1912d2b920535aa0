import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import type { LoadedMembership, SourceType } from './entity.ts'

/** Direct memberships, oldest first. Groups and projects that are being deleted are left out. */
export function listMemberships(
  db: Db,
  { id }: User,
  type: SourceType | null,
  page: Cut,
): Promise<Page<LoadedMembership>> {
  const query = db
    .selectFrom('members as m')
    .leftJoin('projects as p', 'p.id', 'm.project_id')
    .leftJoin('namespaces as n', 'n.id', 'm.group_id')
    .select(['m.access_level', 'm.project_id', 'm.group_id', 'p.name as project_name', 'n.name as group_name'])
    .where('m.user_id', '=', id)
    .where((eb) => eb.or([eb('p.deleting', '=', false), eb('n.deleting', '=', false)]))
    .$if(type === 'Project', (query) => query.where('m.project_id', 'is not', null))
    .$if(type === 'Namespace', (query) => query.where('m.group_id', 'is not', null))
    .orderBy('m.id')
  return pageOfQuery(query, page)
}
