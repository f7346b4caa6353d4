/** Begins the command line of a child that plans for the process whose number follows. No command has this name. */
export const PLANNING = '--plan-for';
