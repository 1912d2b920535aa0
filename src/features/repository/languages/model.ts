declare module '../../../store/database.ts' {
  interface Tables {
    project_languages: {
      project_id: number
      name: string
      /** In percent. */
      share: number
    }
    project_language_trees: { project_id: number; tree: string }
  }
}
