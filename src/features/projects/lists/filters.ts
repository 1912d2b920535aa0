/** Filters that every list of projects accepts. */
import { blankable, bool, date, id, int, moment, oneOf, text } from '../../../api/wire.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { attributeFilters } from '../../identity/custom-attributes.ts'
import { PROJECT_ORDERS } from './lists.ts'

export const filters = {
  ...attributeFilters,
  archived: bool.nullish(),
  visibility: oneOf(...VISIBILITIES).nullish(),
  order_by: oneOf(...PROJECT_ORDERS).nullish(),
  sort: oneOf('asc', 'desc').nullish(),
  search: text.nullish(),
  simple: bool.nullish(),
  owned: bool.nullish(),
  membership: bool.nullish(),
  starred: bool.nullish(),
  statistics: bool.nullish(),
  with_issues_enabled: bool.nullish(),
  with_merge_requests_enabled: bool.nullish(),
  min_access_level: blankable(int),
  topic: text.nullish(),
  id_after: blankable(int),
  id_before: blankable(int),
  last_activity_after: blankable(moment),
  last_activity_before: blankable(moment),
  updated_after: blankable(moment),
  updated_before: blankable(moment),
  active: bool.nullish(),
  imported: bool.nullish(),
  search_namespaces: bool.nullish(),
  topic_id: blankable(id),
  repository_storage: text.nullish(),
  with_programming_language: text.nullish(),
  include_pending_delete: bool.nullish(),
  only_pending_delete: bool.nullish(),
  marked_for_deletion_on: blankable(date),
}

/** This forge has no hidden projects and no repository checksums. */
export const refused = ['include_hidden', 'repository_checksum_failed', 'wiki_checksum_failed']
