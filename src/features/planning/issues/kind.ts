import type { ItemKind } from '../items/kind.ts'

declare module '../items/kind.ts' {
  interface ItemTypes {
    issue: 'Issue'
  }
}

export const issueKind = {
  key: 'issue',
  noun: 'issue',
  one: 'an issue',
  type: 'Issue',
  sign: '#',
  table: 'issues',
  column: 'issue_id',
  labels: 'issue_labels',
  people: { assignees: 'issue_assignees' },
} as const satisfies ItemKind<'issues'>
