/* In a program that links this, the name slow.test takes seconds to be resolved, and then there is no such host. */
void slow_resolver_install(void);

/* How often the name counted.test was resolved, which is 127.0.0.1 there. */
int slow_resolver_count(void);
