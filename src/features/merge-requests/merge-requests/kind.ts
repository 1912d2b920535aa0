import type { ItemKind } from '../../planning/items/kind.ts'

declare module '../../planning/items/kind.ts' {
  interface ItemTypes {
    merge_request: 'MergeRequest'
  }
}

export const mergeRequestKind = {
  key: 'merge_request',
  noun: 'merge request',
  one: 'a merge request',
  type: 'MergeRequest',
  sign: '!',
  table: 'merge_requests',
  column: 'merge_request_id',
  labels: 'merge_request_labels',
  people: { assignees: 'merge_request_assignees', reviewers: 'merge_request_reviewers' },
} as const satisfies ItemKind<'merge_requests', 'assignees' | 'reviewers'>
