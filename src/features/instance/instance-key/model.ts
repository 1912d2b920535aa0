declare module '../../../store/database.ts' {
  interface Tables {
    /** One row: a known text, encrypted with the key. */
    instance_key: { id: number; check_value: string }
  }
}

export {}
