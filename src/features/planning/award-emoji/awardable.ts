/** A record that users can react to. */
export interface Awardable {
  readonly columns:
    | { readonly issue_id: number }
    | { readonly merge_request_id: number }
    | { readonly note_id: number }
    | { readonly snippet_id: number }
  readonly type: 'Issue' | 'MergeRequest' | 'Note' | 'Snippet'
  readonly id: number
  readonly project_id: number
}
