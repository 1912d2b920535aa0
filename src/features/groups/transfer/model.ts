declare module '../../../store/database.ts' {
  interface Events {
    'group.transferred': { id: number; by: number; old_full_path: string }
  }
}

export {}
