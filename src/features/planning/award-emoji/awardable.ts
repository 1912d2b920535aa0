import type { ItemColumns, ItemType } from '../items/kind.ts'

/** A record that users can react to. */
export interface Awardable {
  readonly columns: ItemColumns | { readonly note_id: number } | { readonly snippet_id: number }
  readonly type: ItemType | 'Note' | 'Snippet'
  readonly id: number
  readonly project_id: number
}
