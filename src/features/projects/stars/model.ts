declare module '../../../store/database.ts' {
  interface Tables {
    stars: { user_id: number; project_id: number; created_at: string }
  }
}

export {}
