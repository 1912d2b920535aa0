import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Job } from '../jobs/model.ts'
import { upcomingOf } from '../jobs/resources.ts'
import { ciProject } from '../pipelines/queries.ts'
import type { ResourceGroup } from './model.ts'

const groupsOf = (db: Db, project: number) =>
  db.selectFrom('resource_groups').selectAll().where('project_id', '=', project)

export const listResourceGroups = (db: Db, project: number, page: PageRequest): Promise<Page<ResourceGroup>> =>
  pageOfQuery(groupsOf(db, project).orderBy('id'), page)

export const resourceGroup = child(ciProject, {
  name: 'Resource Group',
  key: 'group',
  params: { key: text },
  find: (app, { project }, { key }) => groupsOf(app.db, project.id).where('key', '=', key).executeTakeFirst(),
})

/** In the order in which the jobs get the resource. */
export const listUpcoming = (db: Db, group: ResourceGroup, page: PageRequest): Promise<Page<Job>> =>
  pageOfQuery(upcomingOf(db, group).where('kind', '=', 'job'), page)
