import type { Records } from '../../api.ts'
import type { Listed } from '../../api.ts'

export interface Column {
  /** `opened`, `closed` or the name of its label. */
  key: string
  title: string
  list: number | null
  color: string | null
  issues: Listed<Records['Issue'][]>
}
