export {}

declare module '../../../store/database.ts' {
  interface Tables {
    /** The seconds that a root namespace has used on shared runners, by month. */
    ci_minutes: { namespace_id: number; month: string; seconds: number }
  }
}
