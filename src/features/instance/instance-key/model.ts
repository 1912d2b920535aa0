declare module '../../../store/database.ts' {
  interface Tables {
    /** One row: a text that everyone knows, sealed. */
    instance_key: { id: number; check_value: string }
  }
}

export {}
