declare module '../../../store/database.ts' {
  interface Events {
    'group.created': { id: number; by: number }
    'group.updated': { id: number; by: number; old_full_path?: string }
    'group.deleted': { id: number; name: string; full_path: string; by?: number }
  }
}

export {}
