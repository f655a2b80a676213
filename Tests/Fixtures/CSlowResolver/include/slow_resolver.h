/* In a program that links this, the name slow.test takes seconds to be resolved, and then there is no such host. */
void slow_resolver_install(void);
