import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { Db, Row } from '../../../store/database.ts'
import { issue } from '../issues/queries.ts'

export type IssueLink = Row<'issue_links'>

/** The links of an issue in both directions, oldest first. */
export const linksOf = (db: Db, issue: number): Promise<IssueLink[]> =>
  db
    .selectFrom('issue_links')
    .selectAll()
    .where((eb) => eb.or([eb('source_id', '=', issue), eb('target_id', '=', issue)]))
    .orderBy('id')
    .execute()

export const link = child(issue, {
  key: 'link',
  params: { issue_link_id: id },
  async find({ db }, { issue }, { issue_link_id }) {
    return db
      .selectFrom('issue_links')
      .selectAll()
      .where('id', '=', issue_link_id)
      .where((eb) => eb.or([eb('source_id', '=', issue.id), eb('target_id', '=', issue.id)]))
      .executeTakeFirst()
  },
})
