import type { Row } from '../../../store/database.ts'

export const PROCESS_MODES = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const

export type ResourceGroup = Row<'resource_groups'>
